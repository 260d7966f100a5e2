import AFLoop
import AFTLS
import AFTransport
import AFWire
import Foundation

extension Load {
    /// Turns the data task into a stream task, as the delegate asked for.
    ///
    /// - Parameter chunks: The body that has arrived, and that the delegate has not got.
    func becomeStream(after chunks: [Data]) {
        guard let former = handle as? URLSessionDataTask, let (delegate, _) = dataDelegate else { return }
        // Look for a cancellation now: its job would find that the data task has ended.
        guard former.state != .canceling else { return fail(.cancelled) }
        let session = former.session
        let task = session.make { URLSessionStreamTask(continuing: former, identifier: $0) }
        session.forgetMade(task)
        let connector = StreamConnector()
        let isComplete = handOver(to: task, consumer: connector)
        self.session.outbox.post(
            .block { delegate.urlSession(session, dataTask: former, didBecome: task) }
        )
        if task.state == .canceling { return fail(.cancelled) }
        if isComplete || !giveConnection(to: connector, after: chunks) {
            // Reads only: the server would take what is written for another request.
            connector.take(.tookBody, with: BodyChannel(pieces: chunks, of: self), of: self)
            unpause(.unanswered)
            if isComplete { finishReceiving() }
        }
        connector.proceed()
    }

    /// Gives the connection itself to the stream task, if only the end of the connection ends the body: then its bytes
    /// may be anything. False if the body has an end of its own.
    private func giveConnection(to connector: StreamConnector, after chunks: [Data]) -> Bool {
        guard let response = response as? HTTPURLResponse, response.isEndedByClose, content == nil, let transfer,
            let channel = transfer.surrenderChannel()
        else { return false }
        let secured = transfer.key.security == nil ? nil : channel as? TLSChannel
        let early = chunks.isEmpty ? channel : EarlyChannel(chunks.flatMap { $0 }, before: channel)
        let number = transfer.times.connection?.number
        connector.take(
            secured == nil ? .tookConnection : .tookSecured,
            with: early,
            of: self,
            secured: secured,
            key: transfer.key,
            number: number
        )
        return true
    }
}

extension HTTPURLResponse {
    /// RFC 9112 §6.3, as the response's decoder applies it.
    fileprivate var isEndedByClose: Bool {
        statusCode != 204 && statusCode != 304 && !headers.contains("Content-Length")
            && !headers.contains("Transfer-Encoding")
    }
}
