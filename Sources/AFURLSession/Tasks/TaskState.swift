/// The state of a task, as its owner sees it: the caller's own calls change it at once, and the loop when the task
/// completes.
///
/// ```
/// suspended ──resume──▶ running ──▶ completed
///     ▲  └──────────────── │ ──cancel──▶ canceling ──▶ completed
///     └─────suspend────────┘
/// ```
struct TaskState: Sendable {
    /// As `URLSessionTask.State`.
    enum Phase {
        case running, suspended, canceling, completed
    }

    private(set) var state = Phase.suspended
    /// Whether the task has ever run. Such a task has metrics.
    private(set) var hasRun = false
    /// Suspensions nest; a new task has one.
    private(set) var suspensions: Int32 = 1

    /// True if the task runs now and did not before.
    mutating func resume() -> Bool {
        guard state == .suspended else { return false }
        suspensions -= 1
        guard suspensions == 0 else { return false }
        state = .running
        hasRun = true
        return true
    }

    /// True if the task ran before and does not now.
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
