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
        // The metrics for the notification; the name as in AFNetworking, so that a program can tell whose task it is.
        task.keepMetrics(describedAs: addressText)
        record.adoptCurrentProgress(task)
        // An invalid session would wait until the task is resumed.
        if session.isInvalidated { task.cancel() }
        return task
    }

    /// Makes a task whose completion handler is called on `queue`, even if the session is invalid and the task ends
    /// before it is returned.
    package func completing<Task: URLSessionTask>(on queue: DispatchQueue, make: () -> Task) -> Task {
        TaskBeingMade(options: TaskRecord.Options(completionQueue: queue), by: self).make(by: self, body: make)
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
