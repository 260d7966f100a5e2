/// Puts the messages of a client together from its frames, and checks what RFC 6455 and RFC 7692 ask of them.
struct MessageAssembler {
    private var inflater: ClientMessageInflater?
    /// The opcode of the message that has begun.
    private var opcode: ServerFrame.Opcode?
    private var isCompressed = false
    private var bytes: [UInt8] = []

    init(inflater: ClientMessageInflater?) {
        self.inflater = inflater
    }

    /// Adds a data frame. Returns the message that ends with it; nil if it goes on.
    ///
    /// - Parameter limit: How long the message may be.
    mutating func add(_ frame: ServerFrame, limit: Int) throws(ClientViolation) -> ServerMessage? {
        try Self.require(frame.lengthForm == nil, or: "a length in a form that is too long")
        if frame.opcode == .continuation {
            try Self.require(opcode != nil, or: "a continuation of no message")
            try Self.require(frame.reservedBits == 0, or: "reserved bits")
        } else {
            try Self.require(frame.opcode == .text || frame.opcode == .binary, or: "a reserved opcode")
            try Self.require(opcode == nil, or: "a message in the middle of another one")
            try Self.require(frame.reservedBits == 0 || frame.reservedBits == 4 && inflater != nil, or: "reserved bits")
            opcode = frame.opcode
            isCompressed = frame.reservedBits != 0
        }
        try Self.require(frame.payload.count <= limit - bytes.count, or: "a message that is too long")
        bytes += frame.payload
        guard frame.isFinal else { return nil }
        defer { (opcode, bytes) = (nil, []) }
        if isCompressed, let plain = try inflater?.decompress(bytes, limit: limit) { bytes = plain }
        return opcode == .text ? .text(try Self.text(bytes)) : .binary(bytes)
    }

    /// Checks a control frame.
    static func check(_ frame: ServerFrame) throws(ClientViolation) {
        try require([.close, .ping, .pong].contains(frame.opcode), or: "a reserved opcode")
        try require(frame.reservedBits == 0, or: "reserved bits")
        try require(frame.isFinal, or: "a control frame in fragments")
        try require(frame.payload.count <= 125 && frame.lengthForm == nil, or: "a control frame that is too long")
        guard frame.opcode == .close, !frame.payload.isEmpty else { return }
        try require(frame.closeCode.map(mayBeSent) ?? false, or: "a Close frame with a code that may not be sent")
        _ = try text(frame.payload.dropFirst(2))
    }

    /// RFC 6455 section 7.4; 1012 to 1014 have been registered since.
    private static func mayBeSent(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    private static func text(_ bytes: some Collection<UInt8>) throws(ClientViolation) -> String {
        let text = String(validating: bytes, as: UTF8.self)
        try require(text != nil, or: "text that is not UTF-8")
        return text ?? ""
    }

    private static func require(_ isRight: Bool, or fault: String) throws(ClientViolation) {
        if !isRight { throw ClientViolation(reason: fault) }
    }
}
