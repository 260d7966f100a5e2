import AFWire

/// Forwards one request in absolute form, and its response.
///
/// The proxy makes a new connection to the target for each request. The client's connection stays open if the client
/// wants it to. The proxy drops fields that concern one connection only (RFC 9110 section 7.6.1).
final class RequestForwarding {
    private let conversation: Conversation
    private let forwarding: Forwarding
    private let upstream: Upstream
    private let meter: TrafficMeter
    private var isChunked = false
    private var hasSentHead = false

    init(_ conversation: Conversation, forwarding: Forwarding, upstream: Upstream) {
        self.conversation = conversation
        self.forwarding = forwarding
        self.upstream = upstream
        meter = forwarding.meter
    }

    func run(_ head: RecordedRequest, path: String) throws(RequestReader.Failure) {
        var request = head
        do throws(RequestReader.Failure) {
            try passOn(&request, path: path)
        } catch {
            conversation.core.record(request)
            throw error
        }
        conversation.core.record(request)
        let sent = request
        try overIfEnded { () throws(ConnectionEnd) in try passBack(to: sent) }
    }

    // MARK: - To the target

    private func passOn(_ request: inout RecordedRequest, path: String) throws(RequestReader.Failure) {
        let hasBody = try !conversation.reader.endsWithoutBody(&request)
        let isChunked = request.headers["Transfer-Encoding"] != nil
        var fields = request.headers.forNextHop(without: ["Proxy-Authorization", "Expect"])
        if isChunked { fields.append("Transfer-Encoding", "chunked") }
        fields.append("Connection", "close")
        var bytes = Array("\(request.method) \(path) HTTP/1.1\r\n".utf8)
        fields.appendLines(to: &bytes)
        try sendToTarget(bytes + Array("\r\n".utf8))
        guard hasBody else { return }
        if request.expectsContinue {
            let answer = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
            try overIfEnded { () throws(ConnectionEnd) in try send(answer) }
        }
        let limit = conversation.core.options.storedBodyLimit
        try conversation.reader.readBody(into: &request, storing: limit) { piece throws(RequestReader.Failure) in
            try self.sendToTarget(isChunked ? Self.chunk(piece) : piece)
        }
        if isChunked { try sendToTarget(request.trailers.lastChunk) }
    }

    private func sendToTarget(_ bytes: [UInt8]) throws(RequestReader.Failure) {
        let room = meter.room(for: bytes.count, direction: .toTarget)
        try overIfEnded { () throws(ConnectionEnd) in
            // A target that does not read any more may still answer.
            if try upstream.send(Array(bytes.prefix(room))) { meter.note(room, direction: .toTarget) }
            try actIfDue()
        }
    }

    // MARK: - To the client

    private func passBack(to request: RecordedRequest) throws(ConnectionEnd) {
        var decoder = ResponseDecoder(method: .init(request.method), limits: .forServer)
        var pending: [UInt8] = []
        while !decoder.isFinished {
            let step: Step
            do throws(HTTP1Error) {
                step = try Self.decode(&pending, with: &decoder)
            } catch {
                return try giveUp(because: "the target's answer cannot be read: \(error.detail)", on: request)
            }
            if case .needMore = step {
                let more = try upstream.receive() ?? []
                if more.isEmpty {
                    guard (try? decoder.inputEnded()) != nil else {
                        return try giveUp(because: "the target closed too early", on: request)
                    }
                    break
                }
                pending += more
            } else {
                try send(step, to: request)
            }
        }
        if isChunked, !hasSentTrailers { try send(Array("0\r\n\r\n".utf8)) }
        guard staysOpen(for: request) else { throw .close }
    }

    private var hasSentTrailers = false
    private var endsWithConnection = false

    private func staysOpen(for request: RecordedRequest) -> Bool {
        request.wantsPersistence && !endsWithConnection
    }

    private enum Step {
        case needMore
        case interim(ResponseHead)
        case head(ResponseHead)
        case body([UInt8])
        case end(HeaderFields)
    }

    private static func decode(_ pending: inout [UInt8], with decoder: inout ResponseDecoder) throws(HTTP1Error) -> Step
    {
        var consumed = 0
        let step = try pending.withUnsafeBufferPointer { input throws(HTTP1Error) -> Step in
            let step = try decoder.decode(UnsafeRawBufferPointer(input))
            consumed = step.consumed
            switch step.event {
            case .needMore: return .needMore
            case .interim(let head): return .interim(head)
            case .head(let head): return .head(head)
            case .body(let piece): return .body(Array(piece))
            case .end(let trailers): return .end(HeaderFields(trailers))
            }
        }
        pending.removeFirst(consumed)
        return step
    }

    private func send(_ step: Step, to request: RecordedRequest) throws(ConnectionEnd) {
        switch step {
        case .needMore: return
        case .interim(let head):
            // The proxy has answered the client's expectation itself.
            guard head.status != 100 else { return }
            let fields = HeaderFields(head.headers).forNextHop()
            try send(ReplyHead.bytes(status: head.status, reason: head.reason, headers: fields))
        case .head(let head): try send(head, to: request)
        case .body(let bytes): try send(isChunked ? Self.chunk(bytes) : bytes)
        case .end(let trailers):
            guard isChunked else { return }
            hasSentTrailers = true
            try send(trailers.lastChunk)
        }
    }

    private func send(_ head: ResponseHead, to request: RecordedRequest) throws(ConnectionEnd) {
        var fields = HeaderFields(head.headers).forNextHop()
        switch head.framing {
        case .none, .length: break
        case .chunked where request.version != "HTTP/1.0", .untilClose where request.version != "HTTP/1.0":
            isChunked = true
            fields.append("Transfer-Encoding", "chunked")
        case .chunked, .untilClose: endsWithConnection = true
        }
        if !staysOpen(for: request) {
            fields.append("Connection", "close")
        } else if request.version == "HTTP/1.0" {
            fields.append("Connection", "keep-alive")
        }
        hasSentHead = true
        try send(ReplyHead.bytes(status: head.status, reason: head.reason, headers: fields))
    }

    /// Answers 502, or closes the connection if the head is sent, so that the client sees a truncated response.
    private func giveUp(because reason: String, on request: RecordedRequest) throws(ConnectionEnd) {
        guard !hasSentHead else { throw .close }
        _ = try conversation.transmit(.text(reason + "\n").status(502).keepAlive(false), to: request)
        throw .close
    }

    private static func chunk(_ bytes: [UInt8]) -> [UInt8] {
        Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
    }

    private func send(_ bytes: [UInt8]) throws(ConnectionEnd) {
        var rest = bytes[...]
        let stream = conversation.stream
        while !rest.isEmpty {
            let size = min(rest.count, forwarding.behaviour.dribble?.byteCount ?? .max)
            let piece = Array(rest.prefix(meter.room(for: size, direction: .toClient)))
            try piece.withBytes { all throws(ConnectionEnd) in try stream.send(all) }
            meter.note(piece.count, direction: .toClient)
            rest = rest.dropFirst(piece.count)
            try actIfDue()
            if let interval = forwarding.behaviour.dribble?.interval { try stream.pause(for: interval) }
        }
    }

    private func actIfDue() throws(ConnectionEnd) {
        switch meter.dueAction {
        case nil: return
        case .stall: try conversation.stream.waitForHangUp()
        case .close: throw .close
        case .reset:
            upstream.armReset()
            throw .reset
        }
    }
}

extension HeaderFields {
    /// Without the fields that concern one connection only.
    fileprivate func forNextHop(without others: [String] = []) -> HeaderFields {
        let hop = ["Connection", "Keep-Alive", "Proxy-Connection", "TE", "Transfer-Encoding", "Upgrade"]
        let dropped = hop + others + tokens(of: "Connection")
        return HeaderFields(fields.filter { field in !dropped.contains { $0.equalsIgnoringCase(field.name) } })
    }
}
