import Dispatch
import Foundation

/// The end of a task: what its completion handler hears, and what the notification after that says.
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
        serializer = state.wishes.serializer ?? manager.serializer
        file = state.file
    }

    /// The transport failed.
    func fail(_ error: any Error) {
        complete(nil, error)
    }

    /// Whether the serializer will be done before another queue had even begun: one of ours, and no subclass, with
    /// next to nothing to decode.
    var isQuick: Bool {
        let kind = ObjectIdentifier(type(of: serializer))
        return kind == ObjectIdentifier(HTTPResponseSerializer.self)
            || kind == ObjectIdentifier(JSONResponseSerializer.self) && state.body.count <= 1024
    }

    /// There is a response. Takes as long as the serializer does.
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

    /// What is wrong with the response of a download: its body is in a file, and is not decoded.
    private func validate() -> NSError? {
        guard let serializer = serializer as? HTTPResponseSerializer, let response = task.response as? HTTPURLResponse
        else { return nil }
        return collectingError { serializer.validate(response, data: Data(), error: $0) }.error
    }

    private func complete(_ object: Any?, _ error: (any Error)?) {
        let outcome = Outcome(object: object, error: error)
        let call: @Sendable () -> Void = {
            if let verb = state.wishes.verb, let made = state.former ?? task as? URLSessionDataTask {
                verb(made, task.response, outcome.object, outcome.error)
            } else {
                completion?(task.response, outcome.object, outcome.error)
            }
            NotificationPost.main.post(.networkingTaskDidComplete, task, userInfo(outcome))
        }
        if state.wishes.isAwaited { call() } else { manager.complete(on: state.wishes.completionQueue, call) }
    }

    private func userInfo(_ outcome: Outcome) -> NotificationPost.UserInfo {
        var info: NotificationPost.UserInfo = [NetworkingTaskDidCompleteResponseSerializerKey: serializer]
        info[NetworkingTaskDidCompleteSerializedResponseKey] = outcome.object
        info[NetworkingTaskDidCompleteErrorKey] = outcome.error
        info[NetworkingTaskDidCompleteSessionTaskMetrics] = state.metrics
        if let file {
            info[NetworkingTaskDidCompleteAssetPathKey] = file
        } else {
            info[NetworkingTaskDidCompleteResponseDataKey] = state.body
        }
        return info
    }

    // What a serializer made is nobody's but the completion handler's and the notification's, one after the other.
    struct Outcome: @unchecked Sendable {
        let object: Any?
        let error: (any Error)?
    }
}
