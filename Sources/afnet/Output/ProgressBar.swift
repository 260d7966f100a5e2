import Foundation

/// The line that shows how far a download has come. Drawn at most ten times a second.
package struct ProgressBar {
    private static let width = 30
    private static let interval = Duration.milliseconds(100)

    private let expected: Int64
    private let start: ContinuousClock.Instant
    private var drawn: ContinuousClock.Instant?

    /// - Parameter expected: the length of the body; negative if it was not announced.
    package init(expected: Int64, now: ContinuousClock.Instant = .now) {
        self.expected = expected
        start = now
    }

    /// The line, if it is time for one.
    package mutating func line(received: Int64, now: ContinuousClock.Instant = .now) -> String? {
        if let drawn, now - drawn < Self.interval { return nil }
        drawn = now
        return text(received: received, now: now)
    }

    package func text(received: Int64, now: ContinuousClock.Instant = .now) -> String {
        let seconds = max((now - start) / .seconds(1), 0.001)
        let rate = ByteCount.text(Int64(Double(received) / seconds))
        guard expected > 0 else { return "\(ByteCount.text(received))  \(rate)/s" }
        let share = min(Double(received) / Double(expected), 1)
        let filled = Int(share * Double(Self.width))
        let bar = String(repeating: "#", count: filled) + String(repeating: " ", count: Self.width - filled)
        let percent = String(format: "%3d%%", Int(share * 100))
        return "\(percent) [\(bar)] \(ByteCount.text(received)) of \(ByteCount.text(expected))  \(rate)/s"
    }
}
