import AFBase
import Dispatch
import Foundation

// What the manager does when the session calls its delegate.

extension URLSessionManager {
    func hook<Hook>(_ hook: (SessionHooks) -> Hook?) -> Hook? { state.withLock { hook($0.hooks) } }

    func becameInvalid(_ session: URLSession, error: (any Error)?) {
        hook(\.sessionDidBecomeInvalid)?(session, error)
        NotificationCenter.default.post(name: .urlSessionDidInvalidate, object: session)
    }

    func announce(_ notification: RequestNotification, task: URLSessionTask) {
        guard RequestNotification.mayBeHeard, let record = task.receiver as? TaskRecord else { return }
        // Under the lock: otherwise the end of the task could be posted first.
        record.state.withLock { state in
            if state.manager === self { notification.post(object: task) }
        }
    }

    // MARK: - Bodies

    func newBodyStream(of task: URLSessionTask, in session: URLSession) -> InputStream? {
        if let hook = hook(\.taskNeedNewBodyStream) { return hook(session, task) }
        // Not the original request's, if an interceptor has replaced that.
        return (task.currentRequest ?? task.originalRequest)?.copyOfStream
    }

    func sent(_ bytes: Int64, total: Int64, expected: Int64, of task: URLSessionTask, in session: URLSession) {
        var expected = expected
        if expected == NSURLSessionTransferSizeUnknown {
            let announced = task.originalRequest?.value(forHTTPHeaderField: "Content-Length").flatMap(ASCII.number)
            expected = announced ?? expected
        }
        record(of: task)?.advanced(.upload, of: task, to: total, of: expected)
        hook(\.taskDidSendBodyData)?(session, task, bytes, total, expected)
    }

    func received(_ data: Data, of task: URLSessionDataTask, in session: URLSession) {
        if let record = record(of: task) {
            record.advanced(task)
            let isTooLong = record.state.withLock { state in
                guard state.refusal == nil else { return false }
                let room = sessionConfiguration.maximumBodyInMemory - state.body.count
                if data.count <= room { state.body.append(data) }
                return data.count > room
            }
            if isTooLong { refuseBody(of: task, record: record) }
        }
        hook(\.dataTaskDidReceiveData)?(session, task, data)
    }

    private func refuseBody(of task: URLSessionDataTask, record: TaskRecord) {
        let limit = sessionConfiguration.maximumBodyInMemory
        let error = ClientFailure.managerBodyTooLong(limit: limit).urlError(for: task.currentRequest?.url)
        record.state.withLock { state in
            state.refusal = error
            state.body = Data()
        }
        task.cancel()
    }

    func became(_ download: URLSessionDownloadTask, task: URLSessionDataTask, in session: URLSession) {
        if let record = record(of: task) {
            // For observers that count running tasks: no further notification names the data task.
            announce(.taskDidSuspend, task: task)
            announce(.taskDidResume, task: download)
            if record.becomes(download, after: task) { download.cancel() }
        }
        hook(\.dataTaskDidBecomeDownloadTask)?(session, task, download)
    }

    /// The session calls no more about the data task, and the manager does not use the stream.
    func became(_ stream: URLSessionStreamTask, task: URLSessionDataTask, in session: URLSession) {
        // Only an override could have taken the stream.
        if !mayHaveOverrides { stream.cancel() }
        guard let record = record(of: task) else { return }
        let error = ClientFailure.becameStream.urlError(for: task.currentRequest?.url)
        TaskEnding(task: task, record: record, of: self, body: Data(), error: error)?
            .begin(by: self, on: .delegateQueue)
    }

    // MARK: - Files

    /// The session deletes the file at `location` when this returns.
    func downloaded(_ task: URLSessionDownloadTask, to location: URL, in session: URLSession) {
        let record = record(of: task)
        guard let place = place(for: task, at: location, record: record, in: session) else { return }
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
        record: TaskRecord?,
        in session: URLSession
    ) -> URL? {
        if let place = hook(\.downloadTaskDidFinishDownloading)?(session, task, location) { return place }
        guard let destination = record?.state.withLock({ $0.destination }), let response = task.response else {
            return nil
        }
        return destination(location, response)
    }

    // MARK: - Ending

    /// The session has called its delegate with the end of a task.
    func completed(_ task: URLSessionTask, in session: URLSession, error: (any Error)?) {
        completed(task, record: record(of: task), body: Data(), error: error, on: .delegateQueue)
    }
}

extension URLSessionManager: TaskManager {
    /// Small responses skip the operation queue: to wake its thread takes longer than to decode them.
    func prepareEnd(bodyLength: Int, record: inout TaskRecord.State) -> TaskEndPlace {
        let (queue, group, hasHook) = state.withLock { state in
            (state.completionQueue, state.completionGroup, state.hooks.taskDidComplete != nil)
        }
        if hasHook { return .delegateQueue }
        if case .awaited = record.completion { return .networkThread }
        let used = record.options.serializer ?? serializer
        guard !record.options.isAwaited, let quick = used as? HTTPResponseSerializer,
            quick.isQuick(bodyLength: bodyLength, isAwaited: false)
        else { return .delegateQueue }
        record.options.serializer = used
        group?.enter()
        record.enteredGroup = group
        guard let queue = record.options.completionQueue ?? queue, queue !== DispatchQueue.main else {
            return .mainQueue
        }
        return .queue(queue)
    }

    func completed(
        _ task: URLSessionTask,
        record: TaskRecord?,
        body: Data,
        error: (any Error)?,
        on place: TaskEndPlace
    ) {
        // End the record before any call: a callee that asks for the task's progress must find that it has ended.
        if let record {
            TaskEnding(task: task, record: record, of: self, body: body, error: error)?.begin(by: self, on: place)
        }
        hook(\.taskDidComplete)?(task.session, task, error)
    }
}
