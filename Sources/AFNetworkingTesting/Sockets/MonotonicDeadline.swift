import Glibc

/// A moment on the monotonic clock until which a call waits.
struct MonotonicDeadline: Sendable {
    let moment: timespec

    init(after duration: Duration) {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let (seconds, attoseconds) = max(duration, .zero).components
        let nanoseconds = now.tv_nsec + Int(attoseconds / 1_000_000_000)
        // At most a century, which cannot overflow.
        moment = timespec(
            tv_sec: now.tv_sec + Int(min(seconds, 3_155_760_000)) + nanoseconds / 1_000_000_000,
            tv_nsec: nanoseconds % 1_000_000_000
        )
    }

    /// The milliseconds left, for poll(2). Rounded up, so that a wait never ends early.
    var pollTimeout: Int32 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let left = (moment.tv_sec - now.tv_sec) * 1_000_000_000 + moment.tv_nsec - now.tv_nsec
        guard left > 0 else { return 0 }
        return Int32(min(left / 1_000_000 + (left % 1_000_000 == 0 ? 0 : 1), Int(Int32.max)))
    }
}
