import AFBase
import Dispatch
import Foundation

/// The end of a task: makes the object of its response, calls its completion handler, then posts the notification.
struct TaskEnding: Sendable {
    private let task: URLSessionTask
    private let manager: URLSessionManager
    private let completion: TaskRecord.Completion
    private let options: TaskRecord.Options
    private let former: URLSessionDataTask?
    private let serializer: any URLResponseSerialization
    private let body: Data
    private let file: URL?
    private let moveError: NSError?
    private let failure: (any Error)?
    /// The completion group, entered.
    private let group: DispatchGroup?

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
        self.task = task
        self.manager = manager
        completion = ended.completion
        options = ended.options
        former = ended.former
        serializer = ended.options.serializer ?? manager.serializer
        self.body = body.isEmpty ? ended.body : body
        file = ended.file
        moveError = ended.moveError
        failure = TaskEnding.failure(of: task, state: ended, error: error)
        group = ended.enteredGroup
        ended.watch?.end()
    }

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

    /// - Parameter place: Where this is called.
    func begin(on place: TaskEndPlace) {
        switch completion {
        case .awaited(let caller) where isQuick(isAwaited: true): caller.set { outcome().tellAwaiting() }
        case .awaited(let caller):
            URLSessionManager.processingQueue.async {
                let outcome = outcome()
                caller.set { outcome.tellAwaiting() }
            }
        default:
            if isQuick(isAwaited: false) { return tell(outcome(), on: place) }
            URLSessionManager.processingQueue.async { tell(outcome(), on: .delegateQueue) }
        }
    }

    private func isQuick(isAwaited: Bool) -> Bool {
        if failure != nil { return true }
        let serializer = serializer as? HTTPResponseSerializer
        return serializer?.isQuick(bodyLength: body.count, isAwaited: isAwaited) ?? false
    }

    /// Runs the serializer, if a response has arrived.
    private func outcome() -> TaskOutcome {
        if let failure { return outcome(nil, error: failure) }
        // There is no file at a place to which it could not be moved.
        if task is URLSessionDownloadTask {
            return outcome(moveError == nil ? file : nil, error: validate() ?? moveError)
        }
        let (object, error) = collectingError {
            serializer.responseObject(for: task.response, data: body, error: $0)
        }
        return outcome(object, error: error)
    }

    /// Validates the response of a download, whose body is in a file and is not decoded.
    private func validate() -> NSError? {
        guard let serializer = serializer as? HTTPResponseSerializer, let response = task.response as? HTTPURLResponse
        else { return nil }
        return collectingError { serializer.validate(response, data: Data(), error: $0) }.error
    }

    private func outcome(_ object: Any?, error: (any Error)?) -> TaskOutcome {
        TaskOutcome(
            task: task,
            made: former ?? task as? URLSessionDataTask,
            completion: completion,
            object: object,
            error: error,
            serializer: serializer,
            body: file == nil ? body : nil,
            file: file
        )
    }

    /// - Parameter place: Where this is called.
    private func tell(_ outcome: TaskOutcome, on place: TaskEndPlace) {
        switch place {
        case .mainQueue:
            outcome.tell(onMainQueue: true)
            group?.leave()
        case .queue:
            outcome.tell()
            group?.leave()
        case .delegateQueue, .networkThread:
            if options.isAwaited { return outcome.tell() }
            manager.complete(on: options.completionQueue) {
                outcome.tell()
                group?.leave()
            }
        }
    }
}
