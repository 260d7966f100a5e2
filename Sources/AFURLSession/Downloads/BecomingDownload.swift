import AFLoop
import Foundation

extension TaskCore {
    /// The delegate wants the body in a file.
    ///
    /// - Parameter chunks: What of it has arrived, and was shown to nobody.
    func becomeDownload(after chunks: [Data]) {
        guard let former = handle as? URLSessionDataTask, let response, let (delegate, _) = dataDelegate else { return }
        // A cancellation on its way finds a task that has ended, so it has to be heard now.
        guard former.state != .canceling else { return fail(.cancelled) }
        let session = former.session
        let task = session.make { URLSessionDownloadTask(continuing: former, $0) }
        session.forgetMade(task)
        let consumer = DownloadConsumer(.delegate)
        let isComplete = handOver(to: task, consumer: consumer)
        self.session.outbox.post(
            .block { delegate.urlSession(session, dataTask: former, didBecome: task) }
        )
        consumer.begin(with: chunks, after: response, of: self)
        if task.state == .canceling { return fail(.cancelled) }
        unpause(.unanswered)
        if isComplete { finishReceiving() }
    }
}

extension DownloadConsumer {
    /// What arrived while the task was another one.
    func begin(with chunks: [Data], after response: URLResponse, of core: TaskCore) {
        hasShownResponse = true
        receivedResponse(response, of: core)
        for chunk in chunks { chunk.withUnsafeBytes { receivedBody($0, of: core) } }
    }
}
