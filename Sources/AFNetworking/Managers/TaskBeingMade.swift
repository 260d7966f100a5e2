import AFBase
import Synchronization

/// Gives a new task options for which the methods that make tasks have no parameters. Subclasses override those
/// methods.
///
/// The options are in the task's record before the task can end: a task on an invalid session ends before it is
/// returned.
final class TaskBeingMade: Sendable {
    /// The options for the task that this thread, or Swift task, makes now.
    static var current: TaskBeingMade? { bodies.load(ordering: .relaxed) == 0 ? nil : kept }
    @TaskLocal private static var kept: TaskBeingMade?
    /// How many bodies of ``make(by:body:)`` run now. Mostly none, and to look for a task-local value takes longer.
    private static let bodies = Atomic<Int>(0)

    private struct Made: Sendable {
        // Weak: an override may release this task and make another.
        weak var first: URLSessionTask?
        /// The task that the method has returned. Tasks made later are not concerned.
        var task: URLSessionTask?
        /// Calls that wait for the task.
        var waiting: [@Sendable (URLSessionDataTask) -> Void] = []
    }

    private let options: TaskRecord.Options
    /// An override may use other managers too.
    private let manager: ObjectIdentifier
    private let made = Lock(Made())

    init(options: TaskRecord.Options, by manager: URLSessionManager) {
        self.options = options
        self.manager = ObjectIdentifier(manager)
    }

    /// Calls `body` with the task: as soon as there is one.
    func withTask(_ body: @escaping @Sendable (URLSessionDataTask) -> Void) {
        let task = made.withLock { made in
            let task = (made.task ?? made.first) as? URLSessionDataTask
            if task == nil { made.waiting.append(body) }
            return task
        }
        if let task { body(task) }
    }

    func make<Task: URLSessionTask>(by manager: URLSessionManager, body: () -> Task) -> Task {
        TaskBeingMade.bodies.wrappingAdd(1, ordering: .relaxed)
        let task = TaskBeingMade.$kept.withValue(self, operation: body)
        TaskBeingMade.bodies.wrappingSubtract(1, ordering: .relaxed)
        let (first, waiting) = made.withLock { made in
            defer { made = Made(task: task) }
            return (made.first, made.waiting)
        }
        // An override has called the completion handler before it returned a task.
        if !waiting.isEmpty, let task = task as? URLSessionDataTask {
            let call: @Sendable () -> Void = { for body in waiting { body(task) } }
            if options.isAwaited { call() } else { manager.complete(on: options.completionQueue, body: call) }
        }
        guard first !== task else { return task }
        // An override has made another task first.
        if let first { manager.record(of: first)?.state.withLock { $0.options.remove(options) } }
        manager.record(of: task)?.state.withLock { $0.options.apply(options) }
        return task
    }

    /// Called for each new task, before it is made.
    ///
    /// - Returns: Whether it is the first task of this manager, and has got the options.
    func apply(to record: TaskRecord, of manager: URLSessionManager) -> Bool {
        let isFirst = made.withLock { made in
            // A first task that was released does not count.
            made.task == nil && made.first == nil && ObjectIdentifier(manager) == self.manager
        }
        if isFirst { record.state.withLock { $0.options.apply(options) } }
        return isFirst
    }

    /// Called for the first task, before the program has it.
    func note(_ task: URLSessionTask) {
        made.withLock { $0.first = task }
    }
}
