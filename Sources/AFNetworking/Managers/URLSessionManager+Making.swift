import AFBase
public import Dispatch
import Foundation

extension URLSessionManager {
    // MARK: - Records

    /// The record of a task of this manager that has not ended.
    func record(of task: URLSessionTask) -> TaskRecord? {
        guard let record = task.receiver as? TaskRecord, record.isOpen(by: self) else { return nil }
        return record
    }

    /// Makes a task for its record.
    func make<Task: URLSessionTask>(_ record: TaskRecord, make: (URLSession, TaskRecord) -> Task) -> Task {
        let session = session
        let being = TaskBeingMade.current
        let isFirst = being?.apply(to: record, of: self) ?? false
        let task = make(session, record)
        if isFirst { being?.note(task) }
        // For the notification.
        task.keepsMetrics = true
        // As in AFNetworking, so that a program can tell whose task it is.
        task.taskDescription = addressText
        record.adoptCurrentProgress(task)
        // An invalid session would wait until the task is resumed.
        if session.isInvalidated { task.cancel() }
        return task
    }

    /// Makes a task whose completion handler is called on `queue`, even if the session is invalid and the task ends
    /// before it is returned.
    package func completing<Task: URLSessionTask>(on queue: DispatchQueue, make: () -> Task) -> Task {
        TaskBeingMade(TaskRecord.Options(completionQueue: queue), by: self).make(by: self, body: make)
    }

    func makeUpload(
        _ request: URLRequest,
        body: URLSession.UploadBody,
        progress: ProgressHandler?,
        completion: TaskCompletionHandler?
    ) -> URLSessionUploadTask {
        make(TaskRecord(by: self, completion: completion.map { .handler($0) } ?? .none, upload: progress)) {
            session,
            record in
            session.uploadTask(with: request, body: body, for: record)
        }
    }

    func makeDownload(
        _ progress: ProgressHandler?,
        destination: DownloadDestination?,
        completion: DownloadCompletionHandler?,
        task: (URLSession, TaskRecord) -> URLSessionDownloadTask
    ) -> URLSessionDownloadTask {
        let completion = completion.map { TaskRecord.Completion.download($0) } ?? .none
        return make(
            TaskRecord(by: self, completion: completion, destination: destination, download: progress),
            make: task
        )
    }

    // MARK: - Progress

    /// The steps of a task's progress, from the present one until the task ends.
    ///
    /// A reader that is slower than the network gets only the latest step.
    public func progressSteps(of task: URLSessionTask) -> AsyncStream<TransferProgress> {
        record(of: task)?.steps(of: task) ?? AsyncStream { $0.finish() }
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
    func complete(on own: DispatchQueue? = nil, body: @escaping @Sendable () -> Void) {
        let (queue, group) = state.withLock { (own ?? $0.completionQueue, $0.completionGroup) }
        MainQueue.complete(on: queue, group: group, body: body)
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

    func make<Task: URLSessionTask>(by manager: URLSessionManager, body: () -> Task) -> Task {
        let task = TaskBeingMade.$current.withValue(self, operation: body)
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
