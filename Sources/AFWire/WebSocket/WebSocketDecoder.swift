/// Reads the frames of a server, and refuses everything that RFC 6455 forbids as soon as the byte is there.
///
/// It keeps no bytes of messages: pieces are handed on as they arrive. It keeps those of a control frame, 125 at most.
package struct WebSocketDecoder: Sendable {
    package enum Event {
        /// All input was read.
        case needMore
        /// A message of this kind begins.
        case begin(WebSocketOpcode, isCompressed: Bool)
        /// The next frame of the message begins. It may be empty, and so may be any number of them.
        case fragment
        case piece(UnsafeRawBufferPointer)
        /// The message is complete.
        case end
        case ping([UInt8])
        case pong([UInt8])
        /// Nothing behind this frame counts.
        case close(WebSocketClose)
    }

    private enum State: Sendable {
        case head
        case payload
        case control(WebSocketOpcode)
        case closed
    }

    private var messageLimit: UInt64
    /// The bytes of the message so far, those of its current frame included.
    private var messageBytes: UInt64 = 0
    /// How much of the payload is still to come. Within a head: its length, as far as that has come.
    private var remaining: UInt64 = 0
    private var control: [UInt8] = []
    // Side by side, these take one word: a connection that is idle is small.
    private var state = State.head
    /// How many bytes of a head have come, and the first two of them.
    private var headCount: UInt8 = 0
    private var first: UInt8 = 0
    private var second: UInt8 = 0
    private var isFinal = false
    private var isInMessage = false
    private var isCompressed = false
    /// Whether both sides have agreed on permessage-deflate (RFC 7692).
    private let allowsCompression: Bool

    /// - Parameter messageLimit: The most bytes of a message. One that is compressed may have a few more on its way, as
    ///   compressing what is dense makes it longer: what it unpacks to counts.
    package init(allowsCompression: Bool = false, messageLimit: Int) {
        self.allowsCompression = allowsCompression
        self.messageLimit = UInt64(max(messageLimit, 0))
    }

    /// Changes the limit, also for the message that is under way.
    package mutating func limitMessages(to bytes: Int) {
        messageLimit = UInt64(max(bytes, 0))
    }

    /// How many bytes of the present frame are still to come.
    package var announced: Int { Int(clamping: remaining) }

    /// Reads up to the next event, which is one for each frame at least: the caller decides how many it reads.
    package mutating func decode(
        _ input: UnsafeRawBufferPointer
    ) throws(WebSocketViolation) -> (consumed: Int, event: Event) {
        var offset = 0
        while true {
            switch state {
            case .head:
                guard try readHead(input, offset: &offset) else { return (offset, .needMore) }
                if let event = try beginFrame() { return (offset, event) }
            case .payload:
                if remaining == 0 {
                    state = .head
                    if isFinal { return (offset, endMessage()) }
                } else {
                    guard offset < input.count else { return (offset, .needMore) }
                    return takePiece(input, offset: offset)
                }
            case .control(let opcode):
                let count = Int(min(remaining, UInt64(input.count - offset)))
                control += input[offset..<offset + count]
                (offset, remaining) = (offset + count, remaining - UInt64(count))
                guard remaining == 0 else { return (offset, .needMore) }
                return (offset, try endControl(opcode))
            case .closed: return (input.count, .needMore)
            }
        }
    }

    // MARK: - Heads

    /// False if it is not complete.
    private mutating func readHead(
        _ input: UnsafeRawBufferPointer,
        offset: inout Int
    ) throws(WebSocketViolation) -> Bool {
        while headCount < 2 || headCount < headLength {
            guard offset < input.count else { return false }
            let byte = input[offset]
            offset += 1
            headCount += 1
            switch headCount {
            case 1:
                try checkFirst(byte)
                first = byte
            case 2:
                try checkSecond(byte)
                (second, remaining) = (byte, 0)
            default: remaining = remaining << 8 | UInt64(byte)
            }
        }
        return true
    }

    private var headLength: UInt8 {
        switch second & 0x7F {
        case 126: 4
        case 127: 10
        default: 2
        }
    }

    private func checkFirst(_ byte: UInt8) throws(WebSocketViolation) {
        guard let opcode = WebSocketOpcode(rawValue: byte & 0xF) else { throw .protocolError("a reserved opcode") }
        if byte & 0x30 != 0 { throw .protocolError("a reserved bit is set") }
        if byte & 0x40 != 0, !allowsCompression || opcode == .continuation || opcode.isControl {
            throw .protocolError("a frame is compressed that may not be")
        }
        if opcode.isControl, byte & 0x80 == 0 { throw .protocolError("a control frame in fragments") }
        if opcode == .continuation, !isInMessage { throw .protocolError("a continuation of no message") }
        if opcode == .text || opcode == .binary, isInMessage { throw .protocolError("a message within a message") }
    }

    private func checkSecond(_ byte: UInt8) throws(WebSocketViolation) {
        if byte & 0x80 != 0 { throw .protocolError("a masked frame from a server") }
        if first & 0x8 != 0, byte > 125 { throw .protocolError("a control frame of more than 125 bytes") }
    }

    /// The length, which is written in the fewest bytes (RFC 6455 §5.2).
    private func payloadLength() throws(WebSocketViolation) -> UInt64 {
        guard headCount > 2 else { return UInt64(second) }
        if remaining < (headCount == 4 ? 126 : 65_536) { throw .protocolError("a length in more bytes than it needs") }
        if remaining > UInt64(Int64.max) { throw .protocolError("a length of more than 63 bits") }
        return remaining
    }

    private mutating func beginFrame() throws(WebSocketViolation) -> Event? {
        remaining = try payloadLength()
        let opcode = WebSocketOpcode(rawValue: first & 0xF) ?? .continuation
        headCount = 0
        if opcode.isControl {
            state = .control(opcode)
            return nil
        }
        if opcode != .continuation { isCompressed = first & 0x40 != 0 }
        let limit = isCompressed ? messageLimit + messageLimit >> 8 + 64 : messageLimit
        guard messageBytes <= limit, remaining <= limit - messageBytes else {
            throw WebSocketViolation(code: WebSocketViolation.tooBig, reason: "a message is longer than the limit")
        }
        messageBytes += remaining
        isFinal = first & 0x80 != 0
        state = .payload
        guard opcode != .continuation else { return .fragment }
        isInMessage = true
        return .begin(opcode, isCompressed: isCompressed)
    }

    // MARK: - Payloads

    private mutating func takePiece(
        _ input: UnsafeRawBufferPointer,
        offset: Int
    ) -> (consumed: Int, event: Event) {
        let count = Int(min(remaining, UInt64(input.count - offset)))
        remaining -= UInt64(count)
        return (offset + count, .piece(UnsafeRawBufferPointer(rebasing: input[offset..<offset + count])))
    }

    private mutating func endMessage() -> Event {
        isInMessage = false
        messageBytes = 0
        return .end
    }

    private mutating func endControl(_ opcode: WebSocketOpcode) throws(WebSocketViolation) -> Event {
        state = .head
        let payload = control
        control = []
        switch opcode {
        case .ping: return .ping(payload)
        case .pong: return .pong(payload)
        default:
            let close = try Self.close(payload)
            state = .closed
            return .close(close)
        }
    }

    private static func close(_ payload: [UInt8]) throws(WebSocketViolation) -> WebSocketClose {
        guard !payload.isEmpty else { return WebSocketClose(code: nil) }
        guard payload.count > 1 else { throw .protocolError("a Close frame with half a code") }
        let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
        guard WebSocketClose.maySend(code) else { throw .protocolError("a code that no Close frame may have") }
        guard let reason = String(validating: payload[2...], as: UTF8.self) else {
            throw WebSocketViolation(
                code: WebSocketViolation.invalidPayload,
                reason: "the reason of a Close frame is not UTF-8"
            )
        }
        return WebSocketClose(code: code, reason: reason)
    }
}

extension WebSocketViolation {
    fileprivate static func protocolError(_ reason: StaticString) -> WebSocketViolation {
        WebSocketViolation(code: protocolError, reason: reason)
    }
}
