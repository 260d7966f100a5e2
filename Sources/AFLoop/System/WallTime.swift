import CAFLinux

/// The time of day, which users and NTP set.
package struct WallTime: Sendable {
    /// Since 1970.
    package let seconds: Int64
    /// Of the second that has begun.
    private let nanoseconds: Int64

    package init(seconds: Int64, nanoseconds: Int64 = 0) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    package static func now() -> WallTime {
        let time = caf_wall_clock()
        return WallTime(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec))
    }

    /// The second in which something happened that many nanoseconds ago.
    package func second(before elapsed: Int64) -> Int64 {
        let (whole, rest) = elapsed.quotientAndRemainder(dividingBy: 1_000_000_000)
        return seconds - whole - (rest > nanoseconds ? 1 : 0)
    }
}
