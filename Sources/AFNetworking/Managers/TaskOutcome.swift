import Foundation

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
        RequestNotification.taskDidComplete.post(object: task, details: self, onMainQueue: onMainQueue)
    }

    /// Posts the notification, and returns what the Swift task gets that awaits.
    func tellAwaiting() -> VerbOutcome {
        RequestNotification.taskDidComplete.post(object: task, details: self)
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
