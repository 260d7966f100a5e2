package import AFLoop
package import Foundation

extension LoopInterval {
    /// What URLSession waits for progress, in seconds.
    package static let usualTimeout: TimeInterval = 60
    /// Longer than any process lives, and far from overflowing.
    private static let longestTimeout: TimeInterval = 1e9

    /// A timeout in seconds. What is not a positive number means the default: an
    /// accidental 0 must neither fail every request nor wait for ever.
    package init(timeout seconds: TimeInterval, default standard: TimeInterval = usualTimeout) {
        let sane = seconds > 0 ? min(seconds, LoopInterval.longestTimeout) : standard
        self.init(.nanoseconds(Int64(sane * 1e9)))
    }

    /// Only a positive number is a limit.
    package static func limit(_ timeout: TimeInterval?) -> LoopInterval? {
        guard let timeout, timeout > 0 else { return nil }
        return LoopInterval(timeout: timeout)
    }
}

extension Date {
    /// Seconds since 1970, rounded down. Neither infinity nor what is no number is a time.
    package var wholeSeconds: Int64 {
        Int64(exactly: min(max(timeIntervalSince1970.rounded(.down), -1e12), 1e12)) ?? .min
    }

    package static var nowInSeconds: Int64 { Date().wholeSeconds }
}
