/// A moment on both clocks, in seconds: the calendar's, which may be set back and forth
/// and means the same to every process, and the machine's, which only moves on.
struct CacheInstant: Sendable, Hashable {
    /// Since 1970.
    let wall: Int64
    /// Since some moment before this process began.
    let monotonic: Int64
}
