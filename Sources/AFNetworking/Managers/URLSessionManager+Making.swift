import AFBase
public import Dispatch
import Foundation

extension URLSessionManager {
    // MARK: - Records

    func record(of task: URLSessionTask) -> TaskRecord? {
        record(of: task, in: task.session)
    }

    func record(of task: URLSessionTask, in session: URLSession) -> TaskRecord? {
        state.withLock { $0.records[task, session] }
    }

    private enum Fate {
        case begun
        case ended((any Error)?)
        /// The session no longer calls its delegate.
        case late
    }

    /// Makes a task and its record.
    func make<Task: URLSessionTask>(_ task: (URLSession) -> Task, _ record: (Task) -> TaskRecord) -> Task {
        let session = session
        applyTrust()
        state.withLock { $0.records.beginMaking() }
        let task = task(session)
        let record = record(task)
        TaskBeingMade.current?.note(task, record, by: self)
        let fate = state.withLock { state in
            let end = state.records.endMaking(task, in: session)
            guard state.mayStillEndTasks(of: session) else { return Fate.late }
            if let end { return .ended(end.error) }
            state.records.add(record, of: task, in: session)
            return .begun
        }
        switch fate {
        case .begun: break
        case .ended(let error): tellEnd(of: task, record, error)
        case .late: failLate(task, record)
        }
        return task
    }

    /// Makes a task whose completion handler is called on `queue`, even if the session is invalid and the task ends
    /// before it is returned.
    package func completing<Task: URLSessionTask>(on queue: DispatchQueue, _ make: () -> Task) -> Task {
        TaskBeingMade(TaskRecord.Options(completionQueue: queue), by: self).make(by: self, make)
    }

    func failLate(_ task: URLSessionTask, _ record: TaskRecord) {
        let failure = LoadFailure(
            .cancelled,
            .invalidated,
            phase: .preparing,
            message: "The session of the manager was invalidated.",
            advice: "Reset the session when you invalidate it, or use another manager."
        )
        task.cancel()
        record.endSteps()
        TaskEnding(task, record, of: self).fail(ErrorMapping.error(failure, url: task.originalRequest?.url))
    }

    func makeUpload(
        _ progress: ProgressHandler?,
        _ completion: TaskCompletionHandler?,
        _ task: (URLSession) -> URLSessionUploadTask
    ) -> URLSessionUploadTask {
        make(task) { TaskRecord($0, TaskRecord.Watchers(upload: progress), completion: completion) }
    }

    func makeDownload(
        _ progress: ProgressHandler?,
        _ destination: DownloadDestination?,
        _ completion: DownloadCompletionHandler?,
        _ task: (URLSession) -> URLSessionDownloadTask
    ) -> URLSessionDownloadTask {
        make(task) { task in
            TaskRecord(task, TaskRecord.Watchers(download: progress), destination: destination) {
                completion?($0, $1 as? URL, $2)
            }
        }
    }

    // MARK: - Progress

    /// The steps of a task's progress, from the present one until the task ends.
    ///
    /// A reader that is slower than the network gets only the latest step.
    public func progressSteps(of task: URLSessionTask) -> AsyncStream<TransferProgress> {
        record(of: task)?.steps() ?? AsyncStream { $0.finish() }
    }

    // MARK: - Calling back

    /// Sets the queue for the completion handler of one task, in the place of ``URLSessionManager/completionQueue``.
    /// Call it before the task is resumed. It has no effect if the task is not the manager's, or has completed.
    public func setCompletionQueue(_ queue: DispatchQueue, for task: URLSessionTask) {
        record(of: task)?.state.withLock { $0.options.completionQueue = queue }
    }

    /// Calls a completion handler on its queue and in the manager's group.
    ///
    /// - Parameter own: The queue of the task; nil for that of the manager.
    func complete(on own: DispatchQueue? = nil, _ body: @escaping @Sendable () -> Void) {
        let (queue, group) = state.withLock { (own ?? $0.completionQueue, $0.completionGroup) }
        MainQueue.complete(on: queue, group: group ?? URLSessionManager.sharedCompletionGroup, body)
    }
}

/// Gives a new task options for which the methods that make tasks have no parameters. Subclasses override those
/// methods.
///
/// The options are in the task's record before the task can end: a task on an invalid session ends before it is
/// returned.
final class TaskBeingMade: Sendable {
    /// The options for the task that this thread, or Swift task, makes now.
    @TaskLocal static var current: TaskBeingMade?

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

    init(_ options: TaskRecord.Options, by manager: URLSessionManager) {
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

    func make<Task: URLSessionTask>(by manager: URLSessionManager, _ body: () -> Task) -> Task {
        let task = TaskBeingMade.$current.withValue(self, operation: body)
        let (first, waiting) = made.withLock { made in
            defer { made = Made(task: task) }
            return (made.first, made.waiting)
        }
        // An override has called the completion handler before it returned a task.
        if !waiting.isEmpty, let task = task as? URLSessionDataTask {
            let call: @Sendable () -> Void = { for body in waiting { body(task) } }
            if options.isAwaited { call() } else { manager.complete(on: options.completionQueue, call) }
        }
        guard first !== task else { return task }
        // An override has made another task first.
        if let first { manager.record(of: first)?.state.withLock { $0.options.remove(options) } }
        manager.record(of: task)?.state.withLock { $0.options.apply(options) }
        return task
    }

    /// Called for each new task, before the program has it.
    func note(_ task: URLSessionTask, _ record: TaskRecord, by manager: URLSessionManager) {
        let isFirst = made.withLock { made in
            // A first task that was released does not count.
            guard made.task == nil, made.first == nil, ObjectIdentifier(manager) == self.manager else { return false }
            made.first = task
            return true
        }
        if isFirst { record.state.withLock { $0.options.apply(options) } }
    }
}
