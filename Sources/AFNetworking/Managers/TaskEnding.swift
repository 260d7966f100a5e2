import Dispatch
import Foundation

/// The end of a task: calls its completion handler, then posts the notification.
struct TaskEnding: Sendable {
    private let task: URLSessionTask
    private let completion: TaskRecord.Completion?
    private let file: URL?
    private let state: TaskRecord.State
    private let manager: URLSessionManager
    private let serializer: any URLResponseSerialization

    /// Takes the body out of the record.
    init(_ task: URLSessionTask, _ record: TaskRecord, of manager: URLSessionManager) {
        self.task = task
        self.manager = manager
        completion = record.completion
        state = record.state.withLock { state in
            defer { state.body = Data() }
            return state
        }
        serializer = state.options.serializer ?? manager.serializer
        file = state.file
    }

    /// The transport failed.
    func fail(_ error: any Error) {
        complete(nil, error)
    }

    /// Whether the serializer takes less time than a change of queues: it is of one of this library's own classes, and
    /// has little to decode.
    var isQuick: Bool {
        let kind = ObjectIdentifier(type(of: serializer))
        return kind == ObjectIdentifier(HTTPResponseSerializer.self)
            || kind == ObjectIdentifier(JSONResponseSerializer.self) && state.body.count <= 1024
    }

    /// A response has arrived: runs the serializer.
    func succeed() {
        if task is URLSessionDownloadTask {
            complete(file, validate() ?? state.moveError)
        } else {
            let (object, error) = collectingError {
                serializer.responseObject(for: task.response, data: state.body, error: $0)
            }
            complete(object, error)
        }
    }

    /// Validates the response of a download, whose body is in a file and is not decoded.
    private func validate() -> NSError? {
        guard let serializer = serializer as? HTTPResponseSerializer, let response = task.response as? HTTPURLResponse
        else { return nil }
        return collectingError { serializer.validate(response, data: Data(), error: $0) }.error
    }

    private func complete(_ object: Any?, _ error: (any Error)?) {
        let outcome = Outcome(object: object, error: error)
        let call: @Sendable () -> Void = {
            if let verb = state.options.verb, let made = state.former ?? task as? URLSessionDataTask {
                verb(made, task.response, outcome.object, outcome.error)
            } else {
                completion?(task.response, outcome.object, outcome.error)
            }
            NotificationPoster.main.post(.networkingTaskDidComplete, task, userInfo(outcome))
        }
        if state.options.isAwaited { call() } else { manager.complete(on: state.options.completionQueue, call) }
    }

    private func userInfo(_ outcome: Outcome) -> NotificationPoster.UserInfo {
        var info: NotificationPoster.UserInfo = [Notification.NetworkingTaskKey.responseSerializer: serializer]
        info[Notification.NetworkingTaskKey.serializedResponse] = outcome.object
        info[Notification.NetworkingTaskKey.error] = outcome.error
        info[Notification.NetworkingTaskKey.sessionTaskMetrics] = state.metrics
        if let file {
            info[Notification.NetworkingTaskKey.assetPath] = file
        } else {
            info[Notification.NetworkingTaskKey.responseData] = state.body
        }
        return info
    }

    // Unchecked: first the completion handler uses the serializer's object, then the notification.
    struct Outcome: @unchecked Sendable {
        let object: Any?
        let error: (any Error)?
    }
}
