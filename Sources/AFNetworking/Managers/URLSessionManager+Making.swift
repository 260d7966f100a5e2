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
        /// The session does not call anybody any more.
        case late
    }

    /// Makes a task and its record.
    func make<Task: URLSessionTask>(_ task: (URLSession) -> Task, _ record: (Task) -> TaskRecord) -> Task {
        let session = session
        applyTrust()
        state.withLock { $0.records.beginMaking() }
        let task = task(session)
        let record = record(task)
        TaskBeingMade.current?.isMade(task, record, by: self)
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

    /// Makes a task whose completion handler is called on a queue of its own, also if the session was invalidated and
    /// the task has ended before it is returned.
    package func completing<Task: URLSessionTask>(on queue: DispatchQueue, _ make: () -> Task) -> Task {
        TaskBeingMade(TaskRecord.Wishes(completionQueue: queue), by: self).make(by: self, make)
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

    /// The steps of a task's progress, from where it is; without an end as long as it runs.
    ///
    /// Somebody who is slower than the network sees only the latest step.
    public func progressSteps(of task: URLSessionTask) -> AsyncStream<TransferProgress> {
        record(of: task)?.steps() ?? AsyncStream { $0.finish() }
    }

    // MARK: - Calling back

    /// Says where the completion handler of one task is called, in the place of
    /// ``URLSessionManager/completionQueue``. Say it before the task is resumed; nothing happens if it is not a task of
    /// the manager, or has completed.
    public func setCompletionQueue(_ queue: DispatchQueue, for task: URLSessionTask) {
        record(of: task)?.state.withLock { $0.wishes.completionQueue = queue }
    }

    /// Calls a completion handler where the user wants it.
    ///
    /// - Parameter own: The queue of the task; nil for that of the manager.
    func complete(on own: DispatchQueue? = nil, _ body: @escaping @Sendable () -> Void) {
        let (queue, group) = state.withLock { (own ?? $0.completionQueue, $0.completionGroup) }
        MainQueue.complete(on: queue, group: group ?? URLSessionManager.sharedCompletionGroup, body)
    }
}
