import AFBase
import Dispatch
import Foundation

// What the manager does when the session calls its delegate.

extension URLSessionManager {
    var hooks: SessionHooks { state.withLock { $0.hooks } }

    func becameInvalid(_ session: URLSession, _ error: (any Error)?) {
        let (hook, records) = state.withLock { state in
            if state.session === session { state.isInvalidated = true }
            state.formerSessions.remove(ObjectIdentifier(session))
            return (state.hooks.sessionDidBecomeInvalid, state.records.removeAll(of: session))
        }
        // Tasks that were never resumed, and those that were resumed when the session called its delegate no more.
        for record in records { failLate(record.task, record) }
        hook?(session, error)
        NotificationCenter.default.post(name: .urlSessionDidInvalidate, object: session)
    }

    func announce(_ name: Notification.Name, _ task: URLSessionTask, in session: URLSession) {
        // Under the lock: otherwise the end of the task could be posted first.
        state.withLock { state in
            if state.records[task, session] != nil { NotificationPoster.main.post(name, task) }
        }
    }

    // MARK: - Bodies

    func newBodyStream(of task: URLSessionTask, in session: URLSession) -> InputStream? {
        if let hook = hooks.taskNeedNewBodyStream { return hook(session, task) }
        return (task.originalRequest?.httpBodyStream as? any NSCopying)?.copy(with: nil) as? InputStream
    }

    func sent(_ bytes: Int64, total: Int64, expected: Int64, of task: URLSessionTask, in session: URLSession) {
        var expected = expected
        if expected == NSURLSessionTransferSizeUnknown {
            let announced = task.originalRequest?.value(forHTTPHeaderField: "Content-Length").flatMap(ASCII.number)
            expected = announced ?? expected
        }
        record(of: task, in: session)?.advanced(.upload, to: total, of: expected)
        hooks.taskDidSendBodyData?(session, task, bytes, total, expected)
    }

    func received(_ data: Data, of task: URLSessionDataTask, in session: URLSession) {
        if let record = record(of: task, in: session) {
            record.advanced(.download, to: task.countOfBytesReceived, of: task.countOfBytesExpectedToReceive)
            let isTooLong = record.state.withLock { state in
                guard state.refusal == nil else { return false }
                let room = sessionConfiguration.maximumBodyInMemory - state.body.count
                if data.count <= room { state.body.append(data) }
                return data.count > room
            }
            if isTooLong { refuseBody(of: task, record) }
        }
        hooks.dataTaskDidReceiveData?(session, task, data)
    }

    private func refuseBody(of task: URLSessionDataTask, _ record: TaskRecord) {
        let limit = sessionConfiguration.maximumBodyInMemory
        let failure = LoadFailure(
            .limit,
            phase: .receivingBody,
            message: "The body is longer than \(limit) bytes.",
            advice: "Download it to a file, or raise maximumBodyInMemory of the session's configuration."
        )
        let error = ErrorMapping.error(failure, url: task.currentRequest?.url)
        record.state.withLock { state in
            state.refusal = error
            state.body = Data()
        }
        task.cancel()
    }

    func became(_ download: URLSessionDownloadTask, _ task: URLSessionDataTask, in session: URLSession) {
        let wasCancelled = state.withLock { state in
            guard let record = state.records.remove(task, in: session) else { return false }
            state.records.add(record, of: download, in: session)
            // For observers that count running tasks: no further notification names the data task.
            NotificationPoster.main.post(.networkingTaskDidSuspend, task)
            NotificationPoster.main.post(.networkingTaskDidResume, download)
            return record.becomes(download, after: task)
        }
        if wasCancelled { download.cancel() }
        hooks.dataTaskDidBecomeDownloadTask?(session, task, download)
    }

    /// The session calls no more about the data task, and the manager does not use the stream.
    func became(_ stream: URLSessionStreamTask, _ task: URLSessionDataTask, in session: URLSession) {
        // Only an override could have taken the stream.
        if !mayHaveOverrides { stream.cancel() }
        guard let record = state.withLock({ $0.records.remove(task, in: session) }) else { return }
        let failure = LoadFailure(
            .cancelled,
            .becameStream,
            phase: .receivingBody,
            message: "The data task became a stream, as its delegate asked for.",
            advice: "Override the delegate's method for that, or use a session of your own."
        )
        tellEnd(of: task, record, ErrorMapping.error(failure, url: task.currentRequest?.url))
    }

    // MARK: - Files

    /// The session deletes the file at `location` when this returns.
    func downloaded(_ task: URLSessionDownloadTask, to location: URL, in session: URLSession) {
        let record = record(of: task, in: session)
        guard let place = place(for: task, at: location, record, in: session) else { return }
        record?.state.withLock { $0.file = place }
        do {
            try FileManager.default.moveDownload(at: location, to: place)
            NotificationCenter.default.post(name: .urlSessionDownloadTaskDidMoveFileSuccessfully, object: task)
        } catch {
            let error = error as NSError
            record?.state.withLock { $0.moveError = error }
            NotificationCenter.default.post(
                name: .urlSessionDownloadTaskDidFailToMoveFile,
                object: task,
                userInfo: error.userInfo
            )
        }
    }

    private func place(
        for task: URLSessionDownloadTask,
        at location: URL,
        _ record: TaskRecord?,
        in session: URLSession
    ) -> URL? {
        if let place = hooks.downloadTaskDidFinishDownloading?(session, task, location) { return place }
        guard let destination = record?.destination, let response = task.response else { return nil }
        return destination(location, response)
    }

    // MARK: - Ending

    func completed(_ task: URLSessionTask, in session: URLSession, _ error: (any Error)?) {
        // Remove the record before any call: a callee that asks for the task's progress must find that it has ended.
        if let record = state.withLock({ $0.records.end(task, in: session, error) }) {
            tellEnd(of: task, record, error)
        }
        hooks.taskDidComplete?(session, task, error)
    }

    func tellEnd(of task: URLSessionTask, _ record: TaskRecord, _ error: (any Error)?) {
        record.endSteps()
        let ending = TaskEnding(task, record, of: self)
        if let failure = failure(of: task, record, error) {
            ending.fail(failure)
        } else if ending.isQuick {
            ending.succeed()
        } else {
            URLSessionManager.processingQueue.async { ending.succeed() }
        }
    }

    /// The error for the completion handler.
    private func failure(of task: URLSessionTask, _ record: TaskRecord, _ error: (any Error)?) -> (any Error)? {
        let (refusal, recorded) = record.state.withLock { ($0.refusal, $0.error) }
        if let refusal { return refusal }
        guard let error else { return nil }
        if let recorded { return recorded }
        guard let failure = error as? URLError, failure.loadFailure?.reason == .trust else { return error }
        return UntrustedServer.error(nil, task.currentRequest?.url, underlying: failure)
    }
}
