import AFLoop
import AFTLS
import AFTransport
import Foundation

extension TaskCore {
    /// The delegate wants to read the body as a stream.
    ///
    /// - Parameter chunks: What of it has arrived, and was shown to nobody.
    func becomeStream(after chunks: [Data]) {
        guard let former = handle as? URLSessionDataTask, let (delegate, _) = dataDelegate else { return }
        // A cancellation on its way finds a task that has ended, so it has to be heard now.
        guard former.state != .canceling else { return fail(.cancelled) }
        let session = former.session
        let task = session.make { URLSessionStreamTask(continuing: former, $0) }
        session.forgetMade(task)
        let desk = StreamDesk()
        let isComplete = handOver(to: task, consumer: desk)
        self.session.outbox.post(
            .block { delegate.urlSession(session, dataTask: former, didBecome: task) }
        )
        if task.state == .canceling { return fail(.cancelled) }
        if isComplete || !giveConnection(to: desk, after: chunks) {
            desk.take(bodyOf: self, after: chunks)
            unpause(.unanswered)
            if isComplete { finishReceiving() }
        }
        desk.proceed()
    }

    /// Where nothing but its end ends the body, what comes may be anything. False if it is a message of HTTP.
    private func giveConnection(to desk: StreamDesk, after chunks: [Data]) -> Bool {
        guard let response = response as? HTTPURLResponse, response.isEndedByClose, content == nil, let transfer,
            let channel = transfer.surrenderChannel()
        else { return false }
        let secured = transfer.key.security == nil ? nil : channel as? TLSChannel
        let early = chunks.isEmpty ? channel : EarlyChannel(chunks, before: channel)
        desk.take(early, of: self, secured: secured, key: transfer.key, number: transfer.times.connection?.number)
        desk.startLifetime(until: transfer.hardDeadline, of: self)
        return true
    }
}

extension StreamDesk {
    /// Only reads: what is written would be another request to the server.
    fileprivate func take(bodyOf core: TaskCore, after chunks: [Data]) {
        outgoing = .closed
        take(BodyChannel(chunks, of: core), of: core)
    }
}

extension HTTPURLResponse {
    /// RFC 9112 §6.3, as the decoder of the response has read it.
    fileprivate var isEndedByClose: Bool {
        statusCode != 204 && statusCode != 304 && !headers.contains("Content-Length")
            && !headers.contains("Transfer-Encoding")
    }
}
