/// What the connections of a server speak.
protocol ConnectionService: Sendable {
    /// Serves a connection until it ends.
    func serve(_ conversation: Conversation) throws(ConnectionEnd) -> Never
}

/// HTTP, answered by routes and enqueued replies.
struct HTTPService: ConnectionService {
    func serve(_ conversation: Conversation) throws(ConnectionEnd) -> Never {
        try conversation.serveHTTP { _ in false }
    }
}

/// One connection, which its service serves: as HTTP unless the server is a SOCKS proxy.
///
/// Belongs to one connection thread. Every way out is a `ConnectionEnd`.
final class Conversation {
    let stream: SocketStream
    let reader: RequestReader
    /// The server's TLS settings, for a handshake that a script asks for.
    let context: ServerTLSContext?
    private let service: any ConnectionService

    init(stream: SocketStream, service: any ConnectionService, context: ServerTLSContext?) {
        self.stream = stream
        self.service = service
        self.context = context
        reader = RequestReader(stream: stream, connection: stream.connection)
    }

    var connection: Int { stream.connection }
    var core: ServerCore { stream.core }

    /// Serves the connection as the server's service does.
    func serve() throws(ConnectionEnd) -> Never {
        try service.serve(self)
    }

    /// Answers requests in the order in which they arrive, until the connection ends.
    ///
    /// - Parameter takesOver: Asked first about each request. Returns true if it has answered the request itself.
    func serveHTTP(
        _ takesOver: (_ head: RecordedRequest) throws(RequestReader.Failure) -> Bool
    ) throws(ConnectionEnd) -> Never {
        while true {
            do throws(RequestReader.Failure) {
                guard let request = try reader.readHead() else { throw .over(.clientClosed) }
                if try !takesOver(request) { try answer(request) }
            } catch {
                try end(because: error)
            }
        }
    }

    private func end(because failure: RequestReader.Failure) throws(ConnectionEnd) -> Never {
        switch failure {
        case .over(let end):
            throw end
        case .malformed(let reason):
            core.noteRefusal(reason, on: connection)
            var writer = ReplyWriter(stream: stream, delivery: Delivery())
            try writer.send(.text(reason + "\n").status(400).keepAlive(false), to: nil)
            throw .close
        }
    }

    private func answer(_ head: RecordedRequest) throws(RequestReader.Failure) {
        var request = head
        let responder = core.lock.change { $0.takeResponder(for: request) }
        if case .route(_, let parameters) = responder { request.parameters = parameters }
        let early = earlyReply(of: responder, to: request)
        try answer(request, early: early, isRefusal: isRefusal(responder)) { reply(of: responder, to: $0) }
    }

    /// Answers with this reply and asks no route.
    func answer(_ head: RecordedRequest, with reply: ServerReply) throws(RequestReader.Failure) {
        try answer(head, early: reply, isRefusal: true) { _ in reply }
    }

    /// - Parameters:
    ///   - early: The reply, if it is known before the body arrives.
    ///   - late: Makes the reply to the whole request otherwise.
    private func answer(
        _ head: RecordedRequest,
        early: ServerReply?,
        isRefusal: Bool,
        late: (RecordedRequest) -> ServerReply
    ) throws(RequestReader.Failure) {
        var request = head
        let hasBody = try !reader.endsWithoutBody(&request)
        if let early, hasBody, early.delivery.skipsBody || isRefusal && request.expectsContinue {
            return try answerWithoutBody(early, to: &request)
        }
        if hasBody { try receiveBody(of: &request) }
        core.record(request)
        try overIfEnded { () throws(ConnectionEnd) in try send(early ?? late(request), to: request) }
    }

    /// A client that sends `Expect: 100-continue` is told of a refusal before it sends the body.
    private func isRefusal(_ responder: Responder) -> Bool {
        if case .unanswered = responder { return true }
        return false
    }

    /// The reply, if it is known before the body arrives.
    private func earlyReply(of responder: Responder, to request: RecordedRequest) -> ServerReply? {
        if case .route(let route, _) = responder, route.waitsForBody { return nil }
        return reply(of: responder, to: request)
    }

    private func reply(of responder: Responder, to request: RecordedRequest) -> ServerReply {
        switch responder {
        case .reply(let reply), .unanswered(let reply):
            return reply
        case .route(let route, _):
            do {
                return try route.answer(request)
            } catch {
                return .text("the handler threw: \(error)\n").status(500)
            }
        }
    }

    // MARK: - The body of the request

    private func receiveBody(of request: inout RecordedRequest) throws(RequestReader.Failure) {
        do throws(RequestReader.Failure) {
            if request.expectsContinue, core.options.answersExpectContinue {
                let answer = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
                try overIfEnded { () throws(ConnectionEnd) in
                    try answer.withBytes { bytes throws(ConnectionEnd) in try stream.send(bytes) }
                }
            }
            try reader.readBody(into: &request, storing: core.options.storedBodyLimit)
        } catch {
            core.record(request)
            throw error
        }
    }

    private func answerWithoutBody(
        _ reply: ServerReply,
        to request: inout RecordedRequest
    ) throws(RequestReader.Failure) {
        core.record(request)
        // A client that waits for 100 may send its body now, or the next request: the server cannot tell which.
        let staysOpen = reply.delivery.keepAlive == true && !request.expectsContinue
        let sent = request
        try overIfEnded { () throws(ConnectionEnd) in
            try send(staysOpen ? reply : reply.keepAlive(false), to: sent)
        }
        try reader.readBody(into: &request, storing: 0)
    }

    // MARK: - The reply

    private func send(_ reply: ServerReply, to request: RecordedRequest) throws(ConnectionEnd) {
        let reply = reply.delivery.completion?(reply, request) ?? reply
        let delivery = reply.delivery
        let staysOpen = try transmit(reply, to: request)
        if delivery.halfCloses { try listenOnly() }
        guard staysOpen else { throw delivery.endsUnannounced ? .closeUnannounced : .close }
        if reply.switchesProtocol(for: request) {
            // After the switch the bytes are not HTTP.
            if let serve = delivery.successor { try serve(stream, reader.takeUnread(), request) }
            try stream.drain()
            throw .clientClosed
        }
    }

    /// Sends the whole reply. Returns whether the connection stays open.
    func transmit(_ reply: ServerReply, to request: RecordedRequest) throws(ConnectionEnd) -> Bool {
        let delivery = reply.delivery
        if let signal = delivery.heldUntil { try core.waitForSignal(signal) }
        if let delay = delivery.delay { try stream.pause(for: delay) }
        var writer = ReplyWriter(stream: stream, delivery: delivery)
        do throws(ConnectionEnd) {
            return try writer.send(reply, to: request)
        } catch {
            throw delivery.endsUnannounced && error == .close ? .closeUnannounced : error
        }
    }

    /// Closes the sending side and goes on recording requests.
    private func listenOnly() throws(ConnectionEnd) -> Never {
        stream.shutDownWriting()
        do throws(RequestReader.Failure) {
            while var request = try reader.readHead() {
                try reader.readBody(into: &request, storing: core.options.storedBodyLimit)
                core.record(request)
            }
        } catch {
            switch error {
            case .over(let end): throw end
            case .malformed(let reason): core.noteRefusal(reason, on: connection)
            }
            throw .close
        }
        throw .clientClosed
    }
}
