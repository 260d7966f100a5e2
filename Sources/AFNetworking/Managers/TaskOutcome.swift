import Foundation

/// How a task has ended, for its completion handler and then its notification.
final class TaskOutcome: NotificationDetails {
    private let ending: TaskEnding
    private let object: HandedOver<Any?>
    private let error: (any Error)?

    init(_ ending: consuming TaskEnding, object: Any?, error: (any Error)?) {
        self.ending = ending
        self.object = HandedOver(object)
        self.error = error
    }

    /// - Parameters:
    ///   - manager: Calls the completion handler.
    ///   - place: Where this is called.
    func tell(by manager: URLSessionManager, on place: TaskEndPlace) {
        switch place {
        case .mainQueue:
            tell(onMainQueue: true)
            ending.record.enteredGroup?.leave()
        case .queue:
            tell()
            ending.record.enteredGroup?.leave()
        case .delegateQueue, .networkThread:
            if ending.record.options.isAwaited { return tell() }
            manager.complete(on: ending.record.options.completionQueue) { [self] in
                tell()
                ending.record.enteredGroup?.leave()
            }
        }
    }

    private func tell(onMainQueue: Bool = false) {
        ending.record.completion.call(ending.made, response: ending.response, object: object.value, error: error)
        RequestNotification.taskDidComplete.post(object: ending.task, details: self, onMainQueue: onMainQueue)
    }

    /// Posts the notification, and returns what the Swift task gets that awaits.
    func tellAwaiting() -> VerbOutcome {
        RequestNotification.taskDidComplete.post(object: ending.task, details: self)
        return VerbOutcome(task: ending.made, response: ending.response, object: object.value, error: error)
    }

    var userInfo: [AnyHashable: Any] {
        TaskInfo(
            serializer: ending.serializer,
            object: object.value,
            error: error,
            metrics: ending.task.metrics,
            file: ending.record.file,
            body: ending.record.file == nil ? ending.body : nil
        ).dictionary
    }
}
