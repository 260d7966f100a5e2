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
        _ task: URLSessionTask,
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

/// How a task has ended, for its completion handler and then its notification.
final class TaskOutcome: NotificationDetails {
    private let task: URLSessionTask
    private let made: URLSessionDataTask?
    private let completion: TaskRecord.Completion
    private let object: HandedOver<Any?>
    private let error: (any Error)?
    private let serializer: any URLResponseSerialization
    private let body: Data?
    private let file: URL?

    init(
        task: URLSessionTask,
        made: URLSessionDataTask?,
        completion: TaskRecord.Completion,
        object: Any?,
        error: (any Error)?,
        serializer: any URLResponseSerialization,
        body: Data?,
        file: URL?
    ) {
        self.task = task
        self.made = made
        self.completion = completion
        self.object = HandedOver(object)
        self.error = error
        self.serializer = serializer
        self.body = body
        self.file = file
    }

    func tell(onMainQueue: Bool = false) {
        completion.call(made, response: task.response, object: object.value, error: error)
        NotificationPoster.main.post(.networkingTaskDidComplete, object: task, details: self, onMainQueue: onMainQueue)
    }

    /// Posts the notification, and returns what the Swift task gets that awaits.
    func tellAwaiting() -> VerbOutcome {
        NotificationPoster.main.post(.networkingTaskDidComplete, object: task, details: self)
        return VerbOutcome(task: made, response: task.response, object: object.value, error: error)
    }

    var userInfo: [AnyHashable: Any] {
        TaskInfo(
            serializer: serializer,
            object: object.value,
            error: error,
            metrics: task.metrics,
            file: file,
            body: body
        ).dictionary
    }
}

/// The user info of a notification, made by filling in a copy of a dictionary that has the same keys. To hash six long
/// keys for each task would cost as much as half of a small request.
struct TaskInfo {
    let serializer: any URLResponseSerialization
    let object: Any?
    let error: (any Error)?
    let metrics: URLSessionTaskMetrics?
    let file: URL?
    let body: Data?

    private static let keys = [
        Notification.NetworkingTaskKey.responseSerializer, Notification.NetworkingTaskKey.serializedResponse,
        Notification.NetworkingTaskKey.error, Notification.NetworkingTaskKey.sessionTaskMetrics,
        Notification.NetworkingTaskKey.assetPath, Notification.NetworkingTaskKey.responseData,
    ]

    /// A dictionary with some of the keys, and where each stands in it.
    private struct Shape {
        let dictionary: [AnyHashable: Any]
        let places: [Dictionary<AnyHashable, Any>.Index?]

        init(_ bits: Int) {
            let keys = TaskInfo.keys.enumerated().filter { bits & 1 << $0.offset != 0 }.map(\.element)
            let dictionary = Dictionary(uniqueKeysWithValues: keys.map { (AnyHashable($0), 0 as Any) })
            self.dictionary = dictionary
            places = TaskInfo.keys.map { dictionary.index(forKey: AnyHashable($0)) }
        }
    }

    private static let shapes = Lock([HandedOver<Shape>?](repeating: nil, count: 64))

    private var shape: Shape {
        let bits =
            1 | (object == nil ? 0 : 2) | (error == nil ? 0 : 4) | (metrics == nil ? 0 : 8) | (file == nil ? 0 : 16)
            | (body == nil ? 0 : 32)
        return TaskInfo.shapes.withLock { shapes in
            let shape = shapes[bits] ?? HandedOver(Shape(bits))
            shapes[bits] = shape
            return shape
        }
        .value
    }

    var dictionary: [AnyHashable: Any] {
        let shape = shape
        var info = shape.dictionary
        if let place = shape.places[0] { info.values[place] = serializer }
        if let place = shape.places[1], let object { info.values[place] = object }
        if let place = shape.places[2], let error { info.values[place] = error }
        if let place = shape.places[3], let metrics { info.values[place] = metrics }
        if let place = shape.places[4], let file { info.values[place] = file }
        if let place = shape.places[5], let body { info.values[place] = body }
        return info
    }
}
