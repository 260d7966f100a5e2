import AFWire
import Foundation

/// Puts the pieces of a message together: unpacks them, and checks text as it comes. Confined to the loop.
struct MessageAssembly {
    /// The most bytes of a message, unpacked.
    var limit: Int

    private let inflater: MessageInflater?
    /// The bytes of a text, or of data, so far.
    private var text: [UInt8] = []
    private var data = Data()
    /// The last piece, which is a part of what was just read: a message in one piece is copied once.
    private var piece: (bytes: UnsafeRawBufferPointer, announced: Int)?
    // Declared here, these fit into the gap behind `piece`.
    private var isText = false
    private var isCompressed = false
    private var validator = UTF8Validator()

    init(compression: WebSocketCompression?, limit: Int) {
        inflater = compression.map(MessageInflater.init)
        self.limit = limit
    }

    mutating func begin(isText: Bool, isCompressed: Bool) {
        (self.isText, self.isCompressed) = (isText, isCompressed)
        validator = UTF8Validator()
    }

    /// - Parameters:
    ///   - announced: How many bytes of the frame follow.
    ///   - page: Where pieces are unpacked.
    mutating func add(
        _ input: UnsafeRawBufferPointer,
        announced: Int,
        page: UnsafeMutableRawBufferPointer
    ) throws(WebSocketFailure) {
        guard isCompressed, let inflater else {
            keep()
            try check(input)
            piece = (input, announced)
            return
        }
        try inflater.inflate(input, page: page) { (unpacked) throws(WebSocketFailure) in try append(unpacked) }
    }

    /// Copies what would be gone with the read buffer.
    mutating func keep() {
        guard let piece else { return }
        self.piece = nil
        copy(piece.bytes)
        // Room for what is announced, but not for much more than has come: a length alone costs the server nothing.
        let room = min(piece.announced, 16 * count)
        if piece.announced > 0 { isText ? text.reserveCapacity(count + room) : data.reserveCapacity(count + room) }
    }

    /// There will be no message: forgets what is gone with the read buffer.
    mutating func dropPiece() {
        piece = nil
    }

    private var count: Int { isText ? text.count : data.count }

    private mutating func copy(_ bytes: UnsafeRawBufferPointer) {
        if isText { text.append(contentsOf: bytes) } else { data.append(contentsOf: bytes) }
    }

    /// The message is complete.
    mutating func end(page: UnsafeMutableRawBufferPointer) throws(WebSocketFailure) -> WebSocketMessage {
        if isCompressed, let inflater {
            try inflater.endMessage(page: page) { (unpacked) throws(WebSocketFailure) in try append(unpacked) }
        }
        guard !isText || validator.isComplete else { throw .invalidText }
        if count > 0 { keep() }
        defer { (text, data, piece) = ([], Data(), nil) }
        guard let piece else { return isText ? .text(String(decoding: text, as: UTF8.self)) : .binary(data) }
        return isText ? .text(String(decoding: piece.bytes, as: UTF8.self)) : .binary(Data(piece.bytes))
    }

    private mutating func append(_ unpacked: UnsafeRawBufferPointer) throws(WebSocketFailure) {
        let room = max(0, max(0, limit) - count)
        // What is wrong first is said, whatever the size of the page.
        try check(UnsafeRawBufferPointer(rebasing: unpacked.prefix(room)))
        guard unpacked.count <= room else { throw .tooLong(limit: limit) }
        copy(unpacked)
    }

    private mutating func check(_ input: UnsafeRawBufferPointer) throws(WebSocketFailure) {
        if isText, !validator.accepts(input) { throw .invalidText }
    }
}

extension WebSocketFailure {
    fileprivate static var invalidText: WebSocketFailure {
        .violation(WebSocketViolation(code: WebSocketViolation.invalidPayload, reason: "a text is not UTF-8"))
    }
}
