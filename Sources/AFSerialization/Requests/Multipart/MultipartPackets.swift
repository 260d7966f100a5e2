import Foundation

/// How much of a form is read at a time, and how often.
struct MultipartPackets: Sendable, Hashable {
    /// At least one byte: a read of no bytes would be the end.
    let size: Int
    let delay: TimeInterval

    init(size: Int = .max, delay: TimeInterval = 0) {
        self.size = max(1, size)
        self.delay = delay
    }

    /// Nil if nothing slows it down.
    var bytesPerSecond: Int? {
        guard size < Int.max, delay > 0, delay.isFinite else { return nil }
        return max(1, Int(exactly: (Double(size) / delay).rounded()) ?? .max)
    }
}
