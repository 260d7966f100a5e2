/// Where a task is in its life, as its owner sees it: changed at once by the
/// caller's own calls, and by the loop when it completes.
///
/// ```
/// suspended ──resume──▶ running ──▶ completed
///     ▲  └──────────────── │ ──cancel──▶ canceling ──▶ completed
///     └─────suspend────────┘
/// ```
struct TaskState: Sendable {
    private(set) var state = URLSessionTask.State.suspended
    /// Whether the task ran at some time. One that did has metrics.
    private(set) var hasRun = false
    /// Suspensions nest; a new task has one.
    private(set) var suspensions: Int32 = 1

    /// True if the task now runs and did not before.
    mutating func resume() -> Bool {
        guard state == .suspended else { return false }
        suspensions -= 1
        guard suspensions == 0 else { return false }
        state = .running
        hasRun = true
        return true
    }

    /// True if the task ran and now does not.
    mutating func suspend() -> Bool {
        guard state == .running || state == .suspended else { return false }
        if suspensions < Int32.max { suspensions += 1 }
        defer { state = .suspended }
        return state == .running
    }

    /// True if there was something to cancel.
    mutating func cancel() -> Bool {
        guard state == .running || state == .suspended else { return false }
        state = .canceling
        return true
    }

    /// True if the task waited to be resumed.
    mutating func cancelIfSuspended() -> Bool {
        state == .suspended && cancel()
    }

    mutating func complete() {
        state = .completed
    }
}
