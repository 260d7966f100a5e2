import AFLoop
import Foundation

extension Load {
    /// Turns the data task into a download task, as its delegate asked.
    ///
    /// - Parameter chunks: The bytes of the body that have arrived and were not delivered.
    func becomeDownload(after chunks: [Data]) {
        guard let former = handle as? URLSessionDataTask, let response, let (delegate, _) = dataDelegate else { return }
        // The new task would not see a cancellation of the former one, so it takes effect here.
        guard former.state != .canceling else { return fail(.cancelled) }
        let session = former.session
        let task = session.make { URLSessionDownloadTask(continuing: former, identifier: $0) }
        session.forgetMade(task)
        let consumer = DownloadConsumer(receiver: .delegate, after: .nothingOnce)
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
