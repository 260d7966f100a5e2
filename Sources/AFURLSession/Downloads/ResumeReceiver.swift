import AFLoop
import Foundation

/// A caller that has cancelled a download and wants its resume data.
struct ResumeReceiver: Sendable {
    let handler: @Sendable (Data?) -> Void
    /// The caller awaits, and does not depend on the delegate queue.
    let isAwaited: Bool

    func give(_ data: Data?, _ session: SessionCore) {
        let outbox = isAwaited ? session.resumptions : session.outbox
        outbox.post(.block { [handler] in handler(data) })
    }
}

extension Load {
    /// - Parameter task: The task, whose state is already `canceling` unless it had ended.
    func cancel(_ task: URLSessionTask, keepingFor receiver: ResumeReceiver) {
        guard !isCompleted, let download = consumer as? DownloadConsumer else {
            return receiver.give(nil, task.session.core.value)
        }
        download.resumeReceivers.append(receiver)
        reconcile(task)
    }
}
