/// A moment on both clocks, in seconds. The calendar's clock may be set back and forth and means the same to every
/// process; the machine's only moves on.
struct CacheInstant: Sendable, Hashable {
    /// Since 1970.
    let wall: Int64
    /// Since a moment before this process began.
    let monotonic: Int64
}
