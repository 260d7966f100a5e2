/// A moment on the loop's monotonic clock.
///
/// Deadlines saturate instead of overflowing, so an absurd interval means "never", not a trap.
package struct LoopInstant: Sendable, Hashable, Comparable {
    /// Nanoseconds since an arbitrary origin.
    package let nanoseconds: Int64

    package static let distantFuture = LoopInstant(nanoseconds: .max)

    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    package static func < (left: LoopInstant, right: LoopInstant) -> Bool { left.nanoseconds < right.nanoseconds }

    package static func + (instant: LoopInstant, interval: Duration) -> LoopInstant {
        let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(interval.saturatingNanoseconds)
        guard overflow else { return LoopInstant(nanoseconds: sum) }
        return LoopInstant(nanoseconds: interval < .zero ? .min : .max)
    }

    package func duration(to later: LoopInstant) -> Duration { .nanoseconds(nanoseconds(to: later)) }

    package func nanoseconds(to later: LoopInstant) -> Int64 {
        let (difference, overflow) = later.nanoseconds.subtractingReportingOverflow(nanoseconds)
        return overflow ? .max : difference
    }
}

/// A span on the loop's clock, converted once. `Duration` counts in attoseconds, and
/// adding one to an instant costs as much as all other work on a deadline.
package struct LoopInterval: Sendable, Hashable {
    package let nanoseconds: Int64

    package init(_ duration: Duration) {
        nanoseconds = duration.saturatingNanoseconds
    }

    package static func + (instant: LoopInstant, interval: LoopInterval) -> LoopInstant {
        let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(interval.nanoseconds)
        return overflow ? .distantFuture : LoopInstant(nanoseconds: sum)
    }
}

extension Duration {
    package var saturatingNanoseconds: Int64 {
        // `components` traps for a duration of more seconds than an `Int64` counts.
        if self >= .nanoseconds(Int64.max) { return .max }
        if self <= .nanoseconds(Int64.min) { return .min }
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
