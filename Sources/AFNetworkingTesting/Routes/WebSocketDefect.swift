/// The routes below `/ws/bad`.
enum WebSocketDefect {
    private typealias Script = @Sendable (ServerWebSocket) throws -> Void

    /// The reply with the defect that the path names; nil if there is none of that name.
    static func reply(to request: RecordedRequest) -> ServerReply? {
        guard let name = request.parameters["name"] else { return nil }
        if let reply = handshake(name, options: request.webSocketOptions) { return reply }
        return script(name).map { .webSocket(request.webSocketOptions, script: $0) }
    }

    // MARK: - Handshakes

    private static func handshake(_ name: String, options: ServerWebSocketOptions) -> ServerReply? {
        let right = ServerReply.webSocket(options, script: drain)
        switch name {
        case "accept": return right.header("Sec-WebSocket-Accept", "AAAAAAAAAAAAAAAAAAAAAAAAAAA=")
        case "no-accept": return without("Sec-WebSocket-Accept", options: options)
        case "no-upgrade": return without("Upgrade", options: options)
        case "no-connection": return without("Connection", options: options)
        case "upgrade": return right.header("Upgrade", "h2c")
        case "connection": return right.header("Connection", "keep-alive")
        case "protocol": return right.header("Sec-WebSocket-Protocol", "unheard-of")
        case "extension": return right.header("Sec-WebSocket-Extensions", "unheard-of")
        case "status": return right.status(200)
        default: return nil
        }
    }

    private static func without(_ field: String, options: ServerWebSocketOptions) -> ServerReply {
        var options = options
        options.omittedFields = [field]
        return .webSocket(options, script: drain)
    }

    // MARK: - Scripts

    private static func script(_ name: String) -> Script? {
        if let frames = frames(name) {
            return { socket in
                for frame in frames(socket.request) { try socket.send(frame) }
                try drain(socket)
            }
        }
        switch name {
        case "slow":
            return { socket in
                let interval = socket.request.duration("interval") ?? .milliseconds(50)
                try socket.dribble(ServerFrame(.text, "Hello").bytes, every: interval)
                try socket.close()
            }
        case "silent":
            return { socket in
                socket.answersPings = false
                try drain(socket)
            }
        case "unanswered-close":
            return { socket in
                socket.answersClose = false
                try drain(socket)
                try socket.stall()
            }
        case "half-frame": return { try $0.sendRaw(bytes: ServerFrame(.text, "Hello").bytes.prefix(4)) }
        case "close-without-close": return { _ in }
        case "reset":
            return { socket in
                if try socket.receiveFrame() != nil { try socket.reset() }
            }
        default: return nil
        }
    }

    @Sendable private static func drain(_ socket: ServerWebSocket) throws {
        while try socket.receive() != nil {}
    }

    private static func frames(_ name: String) -> (@Sendable (RecordedRequest) -> [ServerFrame])? {
        switch name {
        case "mask": { _ in [ServerFrame(.text, "Hello", maskingKey: 0x37FA_213D)] }
        case "rsv": { [ServerFrame(.text, "Hello", reservedBits: UInt8(clamping: $0.count("bits") ?? 4))] }
        case "opcode":
            { request in
                let opcode = UInt8(clamping: request.count("opcode") ?? 3)
                return [ServerFrame(.init(rawValue: opcode), "Hello")]
            }
        case "continuation": { _ in [ServerFrame(.continuation, "Hello")] }
        case "interleaved": { _ in [ServerFrame(.text, "Hel", isFinal: false), ServerFrame(.text, "lo")] }
        case "length": { _ in [ServerFrame(.text, "Hello".utf8, lengthForm: .medium)] }
        case "fragmented-control": { _ in [ServerFrame(.ping, "Hello", isFinal: false)] }
        case "long-control": { _ in [ServerFrame(.ping, [UInt8](repeating: 0x61, count: 126))] }
        case "utf8": { _ in [ServerFrame(.text, [0x48, 0xC3, 0x28])] }
        case "close-length": { _ in [ServerFrame(.close, [0x03])] }
        case "close-utf8": { _ in [ServerFrame(.close, [0x03, 0xE8, 0xC3, 0x28])] }
        case "oversized": { _ in [ServerFrame(.binary, announcedLength: 1 << 62)] }
        default: nil
        }
    }
}
