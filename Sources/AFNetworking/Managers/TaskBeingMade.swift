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
        /// What is made from now on has nothing to do with it.
        var isOver = false
        // Not held: a task that is dropped without having been resumed must not be kept by its own handler.
        weak var task: URLSessionTask?
    }

    private let wishes: TaskRecord.Wishes
    /// A method that was overridden may use other managers, too.
    private let manager: ObjectIdentifier
    private let made = Lock(Made())

    init(_ wishes: TaskRecord.Wishes, by manager: URLSessionManager) {
        self.wishes = wishes
        self.manager = ObjectIdentifier(manager)
    }

    /// Known before the completion handler is called.
    var task: URLSessionTask? { made.withLock { $0.task } }

    func make<Task: URLSessionTask>(by manager: URLSessionManager, _ body: () -> Task) -> Task {
        let task = TaskBeingMade.$current.withValue(self, operation: body)
        let first = made.withLock { made in
            defer { made = Made(isOver: true, task: task) }
            return made.task
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
            guard !made.isOver, made.task == nil, ObjectIdentifier(manager) == self.manager else { return false }
            made.task = task
            return true
        }
        if isFirst { record.state.withLock { $0.wishes.follow(wishes) } }
    }
}
