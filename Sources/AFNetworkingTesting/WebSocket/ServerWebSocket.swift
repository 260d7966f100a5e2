/// The server's side of a WebSocket, for the script of `ServerReply.webSocket(_:script:)`.
///
/// ```swift
/// server.route("GET", "/chat") { _ in
///     .webSocket { socket in
///         try socket.send(text: "hello")
///         while let message = try socket.receive() { try socket.send(message) }
///     }
/// }
/// ```
///
/// Belongs to the connection's thread. Every method throws when the connection ends or the server stops; a script lets
/// the error pass.
public final class ServerWebSocket {
    /// The client's request.
    public let request: RecordedRequest
    /// The subprotocol that the server has chosen.
    public let subprotocol: String?
    /// The parameters of permessage-deflate, if the messages are compressed.
    public let compression: DeflateParameters?
    /// Whether `receive()` answers each ping.
    public var answersPings = true
    /// Whether `receive()` answers the client's Close frame.
    public var answersClose = true
    /// Whether the server takes frames without a mask. Otherwise it throws a `ClientViolation`.
    public var acceptsUnmasked = false
    /// How many bytes a frame or a message of the client may have, also when it is decompressed. A longer one is a
    /// `ClientViolation`.
    public var messageLimit = 16 * 1024 * 1024
    /// The Close frame of the client, once `receive()` has come to it.
    public private(set) var clientClose: ServerFrame?
    /// Whether the server has sent a Close frame.
    public private(set) var hasSentClose = false
    /// Whether the client has closed its side of the connection.
    private(set) var isAtEnd = false

    private let stream: any SwitchedStream
    private var reader: FrameReader
    private var assembler: MessageAssembler
    private var deflater: ServerMessageDeflater?

    init(stream: any SwitchedStream, early: [UInt8], handshake: WebSocketAcceptance) {
        self.stream = stream
        request = handshake.request
        subprotocol = handshake.subprotocol
        compression = handshake.compression
        reader = FrameReader(stream: stream, early: early)
        assembler = MessageAssembler(inflater: compression.map { ClientMessageInflater($0) })
        deflater = compression.map { ServerMessageDeflater($0) }
    }

    // MARK: - Receiving

    /// Waits for the next message and decompresses it. Nil once the client has closed: `clientClose` has its Close
    /// frame, if it sent one.
    ///
    /// Answers pings and the Close frame on the way. A client that breaks a rule causes a `ClientViolation`, which the
    /// server also records as the `refusal` of the connection.
    public func receive() throws -> ServerMessage? {
        while clientClose == nil, let frame = try receiveFrame() {
            let message = try recordingViolations { try take(frame) }
            if let message { return message }
        }
        return nil
    }

    /// Waits for the next frame, whatever it is, and answers nothing. Nil once the client has closed its side.
    public func receiveFrame() throws -> ServerFrame? {
        try recordingViolations {
            guard let frame = try reader.next(limit: messageLimit) else {
                isAtEnd = true
                return nil
            }
            stream.note(frame)
            guard frame.isMasked || acceptsUnmasked else { throw ClientViolation(reason: "a frame without a mask") }
            return frame
        }
    }

    private func take(_ frame: ServerFrame) throws -> ServerMessage? {
        guard frame.opcode.isControl else { return try assembler.add(frame, limit: messageLimit) }
        try MessageAssembler.check(frame)
        if frame.opcode == .ping, answersPings { try pong(frame.payload) }
        guard frame.opcode == .close else { return nil }
        clientClose = frame
        if answersClose, !hasSentClose { try closeRaw(frame.payload.prefix(2)) }
        return nil
    }

    private func recordingViolations<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            if let violation = error as? ClientViolation { stream.noteRefusal(violation.reason) }
            throw error
        }
    }

    // MARK: - Sending

    /// Sends a message, compressed if that is agreed on.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - size: How many bytes of payload each frame has; nil for one frame.
    public func send(_ message: ServerMessage, inFragmentsOf size: Int? = nil) throws {
        let payload = compressed(message.bytes)
        let size = max(size ?? payload.count, 1)
        var start = 0
        repeat {
            let end = min(start + size, payload.count)
            try send(
                ServerFrame(
                    start == 0 ? message.opcode : .continuation,
                    payload[start..<end],
                    isFinal: end == payload.count,
                    reservedBits: start == 0 && compression != nil ? 4 : 0
                )
            )
            start = end
        } while start < payload.count
    }

    /// Sends a text message.
    public func send(text: String, inFragmentsOf size: Int? = nil) throws {
        try send(.text(text), inFragmentsOf: size)
    }

    /// Sends a binary message.
    public func send(binary bytes: some Sequence<UInt8>, inFragmentsOf size: Int? = nil) throws {
        try send(.binary(Array(bytes)), inFragmentsOf: size)
    }

    /// Compresses the payload of a message for frames that the script makes itself; the first one has the bit RSV1.
    /// Returns the bytes as they are if no compression is agreed on.
    public func compressed(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        deflater?.compress(Array(bytes)) ?? Array(bytes)
    }

    /// Sends a frame in one write, right or wrong.
    public func send(_ frame: ServerFrame) throws {
        if frame.opcode == .close { hasSentClose = true }
        try sendRaw(bytes: frame.bytes)
    }

    /// Sends bytes in one write.
    public func sendRaw(bytes: some Sequence<UInt8>) throws {
        let stream = stream
        try Array(bytes).withBytes { bytes throws(ConnectionEnd) in try stream.send(bytes) }
    }

    /// Sends bytes, at most `byteCount` in each write, with a pause after each write.
    public func dribble(_ bytes: some Sequence<UInt8>, _ byteCount: Int = 1, every interval: Duration) throws {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            try sendRaw(bytes: rest.prefix(max(byteCount, 1)))
            rest = rest.dropFirst(max(byteCount, 1))
            try pause(for: interval)
        }
    }

    /// Sends a ping.
    public func ping(_ payload: some Sequence<UInt8> = []) throws {
        try send(ServerFrame(.ping, payload))
    }

    /// Sends a pong.
    public func pong(_ payload: some Sequence<UInt8> = []) throws {
        try send(ServerFrame(.pong, payload))
    }

    // MARK: - Waiting

    /// Waits. Ends early when the connection breaks or the server stops.
    public func pause(for duration: Duration) throws {
        try stream.pause(for: duration)
    }

    /// Waits until the test calls `TestServer.signal(_:)` with this name.
    public func pause(until signal: String) throws {
        try stream.waitForSignal(signal)
    }

    /// Reads nothing and sends nothing until the client closes its side.
    public func stall() throws -> Never {
        try stream.waitForHangUp()
    }

    // MARK: - Ending

    /// Sends a Close frame and waits for that of the client, which is then in `clientClose`. Drops the messages that
    /// arrive before. The connection ends when the script returns.
    public func close(_ code: UInt16 = 1000, reason: String = "") throws {
        try send(.close(code, reason: reason))
        while try receive() != nil {}
    }

    /// Sends a Close frame with any payload, and waits for nothing.
    public func closeRaw(_ payload: some Sequence<UInt8> = []) throws {
        try send(ServerFrame(.close, payload))
    }

    /// Resets the connection. The client may lose bytes that it has not read yet.
    public func reset() throws -> Never {
        throw ConnectionEnd.reset
    }
}
