/// One frame of WebSocket (RFC 6455 section 5.2), received by the server or to be sent by it.
///
/// A frame that a script sends may break every rule:
///
/// ```swift
/// try socket.send(ServerFrame(.text, "Hello", maskingKey: 0x37FA_213D))
/// try socket.send(ServerFrame(.ping, "Hello", isFinal: false))
/// try socket.send(ServerFrame(.binary, announcedLength: 1 << 62))
/// ```
public struct ServerFrame: Sendable, Hashable {
    /// What a frame is: four bits, of which some values are reserved.
    public struct Opcode: RawRepresentable, Sendable, Hashable {
        /// The number, 0 to 15.
        public let rawValue: UInt8

        /// Makes an opcode from the lower four bits of a number.
        public init(rawValue: UInt8) { self.rawValue = rawValue & 0xF }

        /// The next part of a fragmented message.
        public static let continuation = Opcode(rawValue: 0)
        /// A text message, or its beginning.
        public static let text = Opcode(rawValue: 1)
        /// A binary message, or its beginning.
        public static let binary = Opcode(rawValue: 2)
        /// The end of the conversation.
        public static let close = Opcode(rawValue: 8)
        /// A ping.
        public static let ping = Opcode(rawValue: 9)
        /// The answer to a ping.
        public static let pong = Opcode(rawValue: 10)

        /// Whether it is one of the eight opcodes of control frames.
        public var isControl: Bool { rawValue & 8 != 0 }
    }

    /// How many bits the length of the payload takes.
    @nonexhaustive
    public enum LengthForm: Sendable, Hashable {
        /// Seven bits, for at most 125 bytes.
        case short
        /// Sixteen bits, for at most 65,535 bytes.
        case medium
        /// Sixty-four bits.
        case long

        /// The form that RFC 6455 demands for a length.
        init(for length: UInt64) { self = length <= 125 ? .short : length <= 0xFFFF ? .medium : .long }
    }

    /// What the frame is.
    public var opcode: Opcode
    /// The payload without a mask.
    public var payload: [UInt8]
    /// Whether the message ends with this frame.
    public var isFinal: Bool
    /// The bits RSV1 (4), RSV2 (2) and RSV3 (1).
    public var reservedBits: UInt8
    /// The key that masks the payload, its first byte the highest; nil if there is no mask.
    public var maskingKey: UInt32?
    /// The form of the length, if it is another one than the shortest.
    public var lengthForm: LengthForm?
    /// The length in the head, if it is another one than that of the payload.
    public var announcedLength: UInt64?

    /// Makes a frame.
    public init(
        _ opcode: Opcode,
        _ payload: some Sequence<UInt8> = [],
        isFinal: Bool = true,
        reservedBits: UInt8 = 0,
        maskingKey: UInt32? = nil,
        lengthForm: LengthForm? = nil,
        announcedLength: UInt64? = nil
    ) {
        self.opcode = opcode
        self.payload = Array(payload)
        self.isFinal = isFinal
        self.reservedBits = reservedBits
        self.maskingKey = maskingKey
        self.lengthForm = lengthForm
        self.announcedLength = announcedLength
    }

    /// Makes a frame with text.
    public init(
        _ opcode: Opcode,
        _ text: String,
        isFinal: Bool = true,
        reservedBits: UInt8 = 0,
        maskingKey: UInt32? = nil
    ) {
        self.init(opcode, text.utf8, isFinal: isFinal, reservedBits: reservedBits, maskingKey: maskingKey)
    }

    /// Makes a Close frame.
    public static func close(_ code: UInt16, reason: String = "") -> ServerFrame {
        ServerFrame(.close, [UInt8(code >> 8), UInt8(code & 0xFF)] + Array(reason.utf8))
    }

    /// Whether the payload is masked on the wire.
    public var isMasked: Bool { maskingKey != nil }

    /// The payload as text; bytes that are not UTF-8 become replacement characters.
    public var text: String { String(decoding: payload, as: UTF8.self) }

    /// The code of a Close frame; nil if it has none.
    public var closeCode: UInt16? {
        opcode == .close && payload.count >= 2 ? UInt16(payload[0]) << 8 | UInt16(payload[1]) : nil
    }

    /// The frame on the wire.
    public var bytes: [UInt8] {
        let length = announcedLength ?? UInt64(payload.count)
        let form = lengthForm ?? LengthForm(for: length)
        let mask: UInt8 = isMasked ? 0x80 : 0
        var bytes = [(isFinal ? 0x80 : 0) | (reservedBits & 7) << 4 | opcode.rawValue]
        switch form {
        case .short: bytes.append(mask | UInt8(length & 0x7F))
        case .medium: bytes += [mask | 126] + Self.bigEndian(length, count: 2)
        case .long: bytes += [mask | 127] + Self.bigEndian(length, count: 8)
        }
        guard let maskingKey else { return bytes + payload }
        return bytes + Self.bigEndian(UInt64(maskingKey), count: 4) + Self.masked(payload, with: maskingKey)
    }

    /// Puts on a mask, or takes it off (RFC 6455 section 5.3).
    static func masked(_ bytes: some Sequence<UInt8>, with key: UInt32) -> [UInt8] {
        let key = bigEndian(UInt64(key), count: 4)
        return bytes.enumerated().map { $1 ^ key[$0 & 3] }
    }

    private static func bigEndian(_ number: UInt64, count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
    }
}
