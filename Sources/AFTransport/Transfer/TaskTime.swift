package import AFLoop

/// How long a task may take as a whole. The time of its suspensions does not count.
///
/// The load makes it. Whatever loads for the task gets a copy, and is suspended and resumed with the task.
package struct TaskTime {
    private let start: LoopInstant
    /// When it is over; during a suspension, when it would have been.
    private var end: LoopInstant
    /// When the present suspension began; `distantFuture` if there is none.
    private var suspended = LoopInstant(nanoseconds: .max)
    // Instants are compared by their numbers: equality is a call into another module.
    private var isSuspended: Bool { suspended.nanoseconds != .max }

    /// Of a task that has not begun.
    package static let unlimited = TaskTime(from: .distantFuture, until: .distantFuture)

    package init(from start: LoopInstant, until end: LoopInstant) {
        self.start = start
        self.end = end
    }

    /// When it began; nil if it has not.
    package var started: LoopInstant? { start.nanoseconds == .max ? nil : start }

    package mutating func suspend(at now: LoopInstant) {
        if !isSuspended { suspended = now }
    }

    package mutating func resume(at now: LoopInstant) {
        end = end(at: now)
        suspended = .distantFuture
    }

    /// When it is over, if a suspension ends now.
    package func end(at now: LoopInstant) -> LoopInstant {
        isSuspended ? end + suspended.duration(to: now) : end
    }

    /// What is to be watched: no time passes while the task is suspended.
    package var deadline: LoopInstant { isSuspended ? .distantFuture : end }

    /// How much of a span was suspended: of one that began then, and that the present suspension ends.
    package func suspension(since start: LoopInstant, to now: LoopInstant) -> Duration {
        isSuspended ? max(suspended, start).duration(to: now) : .zero
    }

    package mutating func limit(to latest: LoopInstant) {
        end = min(end, latest)
    }
}
