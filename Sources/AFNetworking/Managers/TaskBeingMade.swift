import Foundation

/// A task that somebody makes who wants more of it than the methods that make tasks can be told: subclasses override
/// those.
///
/// What is wanted is in the task's record before anybody can end the task. One that is made too late has ended before
/// it is returned.
final class TaskBeingMade: Sendable {
    /// What is made just now, by this thread or Swift task.
    @TaskLocal static var current: TaskBeingMade?

    private struct Made: Sendable {
        // Not held: a method that was overridden may drop it, and make another.
        weak var first: URLSessionTask?
        /// What the method has returned. What is made from now on has nothing to do with it.
        var task: URLSessionTask?
        /// Want the task, and came before it.
        var waiting: [@Sendable (URLSessionDataTask) -> Void] = []
    }

    private let wishes: TaskRecord.Wishes
    /// A method that was overridden may use other managers, too.
    private let manager: ObjectIdentifier
    private let made = Lock(Made())

    init(_ wishes: TaskRecord.Wishes, by manager: URLSessionManager) {
        self.wishes = wishes
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

    func make<Task: URLSessionTask>(by manager: URLSessionManager, _ body: () -> Task) -> Task {
        let task = TaskBeingMade.$current.withValue(self, operation: body)
        let (first, waiting) = made.withLock { made in
            defer { made = Made(task: task) }
            return (made.first, made.waiting)
        }
        // The method that was overridden has answered by itself before it had a task.
        if !waiting.isEmpty, let task = task as? URLSessionDataTask {
            let call: @Sendable () -> Void = { for body in waiting { body(task) } }
            if wishes.isAwaited { call() } else { manager.complete(on: wishes.completionQueue, call) }
        }
        guard first !== task else { return task }
        // A method that was overridden has made another task besides, and before.
        if let first { manager.record(of: first)?.state.withLock { $0.wishes.forget(wishes) } }
        manager.record(of: task)?.state.withLock { $0.wishes.follow(wishes) }
        return task
    }

    /// There is a task. Nobody knows of it yet.
    func isMade(_ task: URLSessionTask, _ record: TaskRecord, by manager: URLSessionManager) {
        let isFirst = made.withLock { made in
            // One that was dropped again does not count.
            guard made.task == nil, made.first == nil, ObjectIdentifier(manager) == self.manager else { return false }
            made.first = task
            return true
        }
        if isFirst { record.state.withLock { $0.wishes.follow(wishes) } }
    }
}
