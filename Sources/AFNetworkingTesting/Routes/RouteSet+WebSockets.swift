extension RouteSet {
    /// WebSockets, right and wrong.
    ///
    /// | route | what the server does |
    /// |---|---|
    /// | `/ws/echo` | sends each message back, text as text and binary as binary |
    /// | `/ws/close/CODE?reason=` | sends a Close frame with this code |
    /// | `/ws/count/N` | sends the numbers 1 to N, a text message each, then closes with 1000 |
    /// | `/ws/bad/NAME` | breaks a rule, see below |
    ///
    /// | query | effect |
    /// |---|---|
    /// | `protocol=a,b` | the server speaks these subprotocols |
    /// | `deflate=1` | the server accepts permessage-deflate |
    /// | `server_no_context_takeover=1`, `client_no_context_takeover=1` | with these parameters |
    /// | `server_max_window_bits=`, `client_max_window_bits=` | and these, 8 to 15 |
    /// | `fragment=` | the messages of the server have frames with so many bytes |
    /// | `interval=` | the pause before each number, or before each byte of `slow`, in seconds |
    ///
    /// What is wrong about the handshake under `/ws/bad`:
    ///
    /// | name | what the server does |
    /// |---|---|
    /// | `accept` | sends a wrong `Sec-WebSocket-Accept` |
    /// | `no-accept`, `no-upgrade`, `no-connection` | leaves this field out |
    /// | `upgrade`, `connection` | sends `h2c`, or `keep-alive`, in this field |
    /// | `protocol`, `extension` | chooses what the client did not offer |
    /// | `status` | answers 200 with the fields of 101 |
    ///
    /// Behind the handshake, after which the server reads on until the client closes:
    ///
    /// | name | what the server does |
    /// |---|---|
    /// | `mask` | masks its frame |
    /// | `rsv` | sets a reserved bit, `bits=` for others than RSV1 |
    /// | `opcode` | sends a frame with the reserved opcode 3, `opcode=` for another one |
    /// | `continuation` | continues a message that it did not begin |
    /// | `interleaved` | begins a message in the middle of another one |
    /// | `length` | sends the length of a short payload in sixteen bits |
    /// | `fragmented-control`, `long-control` | sends a ping without FIN, or with 126 bytes |
    /// | `utf8` | sends text that is not UTF-8 |
    /// | `close-length`, `close-utf8` | sends a Close frame with one byte, or with a reason that is not UTF-8 |
    /// | `oversized` | sends the head of a frame of 2^62 bytes |
    /// | `slow` | sends `Hello` byte by byte, and is right otherwise |
    /// | `silent` | answers no ping |
    /// | `unanswered-close` | answers no Close frame |
    /// | `half-frame` | sends a half of a frame and closes the connection |
    /// | `close-without-close` | closes the connection without a Close frame |
    /// | `reset` | resets the connection when a frame of the client arrives |
    ///
    /// The frames of the client, its Close frame among them, are in the `frames` of the `RecordedConnection`.
    public static var webSockets: RouteSet {
        RouteSet { server in
            server.route("GET", "/ws/echo") { request in
                .webSocket(request.webSocketOptions) { socket in
                    while let message = try socket.receive() {
                        try socket.send(message, inFragmentsOf: request.count("fragment"))
                    }
                }
            }
            server.route("GET", "/ws/close/:code") { request in
                guard let code = request.countInPath("code").flatMap(UInt16.init(exactly:)) else {
                    return .misuse("/ws/close/CODE")
                }
                return .webSocket(request.webSocketOptions) { socket in
                    try socket.close(code, reason: request.argument("reason") ?? "")
                }
            }
            server.route("GET", "/ws/count/:count") { request in
                guard let count = request.countInPath("count") else { return .misuse("/ws/count/NUMBER") }
                return .webSocket(request.webSocketOptions) { try sendNumbers(count, to: $0) }
            }
            server.route("GET", "/ws/bad/:name") { request in
                WebSocketDefect.reply(to: request) ?? .misuse("the name of a defect")
            }
        }
    }

    private static func sendNumbers(_ count: Int, to socket: ServerWebSocket) throws {
        for number in 0..<count {
            if let interval = socket.request.duration("interval") { try socket.pause(for: interval) }
            try socket.send(text: "\(number + 1)", inFragmentsOf: socket.request.count("fragment"))
        }
        try socket.close()
    }
}

extension RecordedRequest {
    /// What the query says that the server agrees on.
    var webSocketOptions: ServerWebSocketOptions {
        var options = ServerWebSocketOptions()
        let protocols = (argument("protocol") ?? "").utf8.split(separator: UInt8(ascii: ","))
        options.subprotocols = protocols.map { String(decoding: $0, as: UTF8.self) }
        if argument("deflate") == "1" {
            options.compression = DeflateParameters(
                serverNoContextTakeover: argument("server_no_context_takeover") == "1",
                clientNoContextTakeover: argument("client_no_context_takeover") == "1",
                serverMaxWindowBits: count("server_max_window_bits"),
                clientMaxWindowBits: count("client_max_window_bits")
            )
        }
        return options
    }
}
