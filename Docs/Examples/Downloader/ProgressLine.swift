import AFNetworking
import Foundation

/// A bar, how much has arrived, how fast, and for how long it will go on.
struct ProgressLine {
    private static let length = 30
    private var start: (time: ContinuousClock.Instant, received: Int64)?
    private var drawn: ContinuousClock.Instant?

    /// The line, if it is time for one: ten times in a second.
    mutating func line(_ progress: TransferProgress, now: ContinuousClock.Instant = .now) -> String? {
        if let drawn, now - drawn < .milliseconds(100), progress.fractionReceived != 1 { return nil }
        drawn = now
        return text(progress, now: now)
    }

    mutating func text(_ progress: TransferProgress, now: ContinuousClock.Instant = .now) -> String {
        text(progress.received, of: progress.expectedToReceive, now: now)
    }

    mutating func text(_ received: Int64, of expected: Int64, now: ContinuousClock.Instant) -> String {
        // What an earlier run has loaded says nothing about the rate of this one.
        let start = start ?? (now, received)
        self.start = start
        let seconds = (now - start.time) / .seconds(1)
        let rate = seconds > 0 ? Double(received - start.received) / seconds : 0
        guard expected > 0 else { return "\(megabytes(Double(received)))  \(megabytes(rate))/s" }
        let share = min(Double(received) / Double(expected), 1)
        let filled = Int(share * Double(Self.length))
        let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: Self.length - filled)
        let left = rate > 0 && received < expected ? ", \(time(Double(expected - received) / rate)) left" : ""
        let percent = String(format: "%3d%%", Int(share * 100))
        return "[\(bar)] \(percent) of \(megabytes(Double(expected))), \(megabytes(rate))/s\(left)"
    }

    private func megabytes(_ count: Double) -> String { String(format: "%.1f MB", count / 1e6) }

    private func time(_ seconds: Double) -> String {
        let whole = Int(min(seconds, 359_999))
        let (hours, minutes) = (whole / 3600, whole / 60 % 60)
        return hours == 0
            ? String(format: "%d:%02d", minutes, whole % 60)
            : String(format: "%d:%02d:%02d", hours, minutes, whole % 60)
    }
}
