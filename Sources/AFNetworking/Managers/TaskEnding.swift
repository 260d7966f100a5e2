import AFBase
import Dispatch
import Foundation

/// The end of a task: makes the object of its response, calls its completion handler, then posts the notification.
struct TaskEnding: Sendable {
    let task: URLSessionTask
    /// What the record had, without its manager.
    let record: TaskRecord.State
    let response: URLResponse?
    let serializer: any URLResponseSerialization
    let body: Data
    private let failure: (any Error)?

    /// Takes what the record has, and leaves it without its manager. Nil if that was done before.
    ///
    /// - Parameter body: The body, unless the session has called the manager with its parts.
    init?(
        task: URLSessionTask,
        record: TaskRecord,
        of manager: URLSessionManager,
        body: Data,
        error: (any Error)?
    ) {
        var ended = TaskRecord.State(manager: nil, completion: .none, options: TaskRecord.Options())
        record.state.withLock { swap(&$0, &ended) }
        guard ended.manager != nil else { return nil }
        ended.watch?.end()
        // The notification, which a program may keep, has the ending.
        ended.watch = nil
        ended.manager = nil
        self.task = task
        response = task.response
        serializer = ended.options.serializer ?? manager.serializer
        self.body = body.isEmpty ? ended.body : body
        failure = TaskEnding.failure(of: task, state: ended, error: error)
        self.record = ended
    }

    /// The data task that the caller made, if it was one.
    var made: URLSessionDataTask? { record.former ?? task as? URLSessionDataTask }

    /// The error for the completion handler.
    private static func failure(
        of task: URLSessionTask,
        state: TaskRecord.State,
        error: (any Error)?
    ) -> (any Error)? {
        if let refusal = state.refusal { return refusal }
        guard let error else { return nil }
        let failure = error as? URLError
        let isDistrust = failure?.loadFailure?.reason == .trust
        // A later attempt may have failed for another reason than the challenge that was refused.
        if let recorded = state.error, isDistrust || failure?.code == .cancelled { return recorded }
        guard let failure, isDistrust else { return error }
        return UntrustedServer.error(nil, url: task.currentRequest?.url, underlying: failure)
    }

    /// - Parameters:
    ///   - manager: Calls the completion handler.
    ///   - place: Where this is called.
    consuming func begin(by manager: URLSessionManager, on place: TaskEndPlace) {
        switch record.completion {
        case .awaited(let caller) where isQuick(isAwaited: true):
            let ending = self
            caller.set { ending.outcome().tellAwaiting() }
        case .awaited(let caller):
            let ending = self
            URLSessionManager.processingQueue.async {
                let outcome = ending.outcome()
                caller.set { outcome.tellAwaiting() }
            }
        default:
            if isQuick(isAwaited: false) { return outcome().tell(by: manager, on: place) }
            let ending = self
            URLSessionManager.processingQueue.async { ending.outcome().tell(by: manager, on: .delegateQueue) }
        }
    }

    private func isQuick(isAwaited: Bool) -> Bool {
        if failure != nil { return true }
        let serializer = serializer as? HTTPResponseSerializer
        return serializer?.isQuick(bodyLength: body.count, isAwaited: isAwaited) ?? false
    }

    /// Runs the serializer, if a response has arrived.
    private consuming func outcome() -> TaskOutcome {
        if let failure { return TaskOutcome(self, object: nil, error: failure) }
        // There is no file at a place to which it could not be moved.
        if task is URLSessionDownloadTask {
            let (file, error) = (record.moveError == nil ? record.file : nil, validate() ?? record.moveError)
            return TaskOutcome(self, object: file, error: error)
        }
        let (object, error) = collectingError { serializer.responseObject(for: response, data: body, error: $0) }
        return TaskOutcome(self, object: object, error: error)
    }

    /// Validates the response of a download, whose body is in a file and is not decoded.
    private func validate() -> NSError? {
        guard let serializer = serializer as? HTTPResponseSerializer, let response = response as? HTTPURLResponse
        else { return nil }
        return collectingError { serializer.validate(response, data: Data(), error: $0) }.error
    }
}
