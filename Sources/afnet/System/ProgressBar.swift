import Foundation

/// The line with the progress of a transfer, drawn at most ten times a second.
package struct ProgressBar {
    static let interval = Duration.milliseconds(100)
    /// The lengths of a bar; the plain bar may be longer.
    private static let barWidths = 5...30

    private let expected: Int64
    private var width: Int
    private let isPlain: Bool
    private let start: ContinuousClock.Instant
    private var drawn: ContinuousClock.Instant?

    /// - Parameters:
    ///   - expected: The length of the body; negative if it is unknown.
    ///   - width: The columns of the terminal. The last one stays free, because some terminals begin a new line there.
    ///   - isPlain: Whether to draw only a bar and the percentage.
    package init(expected: Int64, width: Int = 80, isPlain: Bool = false, now: ContinuousClock.Instant = .now) {
        self.expected = expected
        self.width = max(width - 1, 1)
        self.isPlain = isPlain
        start = now
    }

    /// Takes the columns that the terminal has now.
    package mutating func fit(into width: Int) {
        self.width = max(width - 1, 1)
    }

    /// The line; nil if the last one is less than a tenth of a second old.
    package mutating func line(received: Int64, now: ContinuousClock.Instant = .now) -> String? {
        if let drawn, now - drawn < Self.interval { return nil }
        drawn = now
        return text(received: received, now: now)
    }

    /// The line. Parts that do not fit into the terminal are left out, the least important first.
    package func text(received: Int64, now: ContinuousClock.Instant = .now) -> String {
        if isPlain { return plainText(received) }
        let seconds = max((now - start) / .seconds(1), 0.001)
        let perSecond = Double(received) / seconds
        let rate = "\(ByteCount.text(Int64(perSecond)))/s"
        let amount = ByteCount.text(received)
        guard expected > 0 else { return fitting(["\(amount)  \(rate)", amount]) }
        let percent = percent(received)
        let sizes = "\(amount) of \(ByteCount.text(expected))"
        let rest = Self.left(expected - received, perSecond: perSecond)
        let figures = "\(sizes)  \(rate)\(rest.map { "  \($0) left" } ?? "")"
        let room = min(width - figures.count - percent.count - 4, Self.barWidths.upperBound)
        if room >= Self.barWidths.lowerBound { return "\(percent) [\(bar(received, room: room))] \(figures)" }
        return fitting(["\(percent) \(figures)", "\(percent) \(sizes)", percent])
    }

    private func plainText(_ received: Int64) -> String {
        guard expected > 0 else { return fitting(["#  \(ByteCount.text(received))"]) }
        let percent = percent(received)
        return fitting(["\(bar(received, room: max(width - percent.count - 1, 0))) \(percent)", percent])
    }

    private func fitting(_ texts: [String]) -> String {
        texts.first { $0.count <= width } ?? String((texts.last ?? "").prefix(width))
    }

    private func share(_ received: Int64) -> Double { min(Double(received) / Double(expected), 1) }

    private func percent(_ received: Int64) -> String { String(format: "%3d%%", Int(share(received) * 100)) }

    private func bar(_ received: Int64, room: Int) -> String {
        let filled = Int(share(received) * Double(room))
        return String(repeating: "#", count: filled) + String(repeating: " ", count: room - filled)
    }

    /// The time left at this rate; nil if nothing is left, the rate is 0, or it is more than 100 hours.
    private static func left(_ count: Int64, perSecond: Double) -> String? {
        guard count > 0, perSecond > 0 else { return nil }
        let seconds = (Double(count) / perSecond).rounded(.up)
        guard seconds < 360_000 else { return nil }
        let whole = Int(seconds)
        if whole < 3600 { return String(format: "%d:%02d", whole / 60, whole % 60) }
        return String(format: "%d:%02d:%02d", whole / 3600, whole / 60 % 60, whole % 60)
    }
}

/// A number of bytes with a unit.
package enum ByteCount {
    package static func text(_ count: Int64) -> String {
        if count < 1000 { return "\(count) B" }
        var value = Double(count)
        for unit in ["kB", "MB", "GB"] {
            value /= 1000
            // A number that would be rounded up to 1000 gets the next unit.
            if value < 999.95 { return String(format: "%.1f \(unit)", value) }
        }
        return String(format: "%.1f TB", value / 1000)
    }
}
