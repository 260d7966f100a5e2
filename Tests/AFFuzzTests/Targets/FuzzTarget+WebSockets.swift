import Foundation

@testable import AFNetworkingTesting
@testable import AFTransport
@testable import AFWire

extension FuzzTarget {
    /// What either side of a WebSocket sends.
    static let webSockets = [frames, packedMessages, clientFrames]

    private static let frames = FuzzTarget(
        "frames",
        "\u{2}\u{1}\u{3}\u{1}\u{3}Hel\u{9}\u{0}",
        "\u{0}\u{2}\u{7E}\u{0}\u{7F}"
    ) { input in
        let (whole, pieces) = input.cutByItself
        let (one, other) = (Frames([whole]), Frames(pieces))
        try expect(one == other, "cut in pieces they are other frames: \(one), and \(other)")
        // One that is compressed may be a little longer: what it unpacks to counts.
        try expect(one.longest <= 164, "a message of \(one.longest) bytes")
    }

    /// What a decoder made of the frames of a server.
    private struct Frames: Equatable {
        var events: [String] = []
        var bytes: [UInt8] = []
        var longest = 0
        var violation: WebSocketViolation?

        init(_ pieces: [[UInt8]]) {
            var decoder = WebSocketDecoder(allowsCompression: true, messageLimit: 100)
            var begin = 0
            do {
                try decoder.decode(pieces) { event, _ in
                    switch event {
                    case .needMore, .fragment: break
                    case .piece(let piece): bytes += piece
                    case .begin: begin = bytes.count
                    case .end: longest = max(longest, bytes.count - begin)
                    case .ping, .pong, .close: events.append("\(event) at \(bytes.count)")
                    }
                }
            } catch {
                violation = error as? WebSocketViolation
            }
        }
    }

    /// The first three bytes say what both sides have agreed on, the limit, and how large the page is.
    private static let packedMessages = FuzzTarget(
        "packed-messages",
        seeds: [
            // The examples of RFC 7692 §7.2.3, one behind the other as far as they share a window.
            [
                0x07, 0x20, 0xFF, 0x01, 0x04, 0xC1, 0x07, 0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0xC1, 0x05, 0xF2,
                0x00, 0x11, 0x00, 0x00,
            ],
            [0x0F, 0x20, 0x03, 0x00, 0x41, 0x03, 0xF2, 0x48, 0xCD, 0x80, 0x04, 0xC9, 0xC9, 0x07, 0x00, 0x89, 0x00],
            [
                0x07, 0x20, 0x01, 0x02, 0x07, 0x03, 0xC2, 0x0B, 0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C,
                0x6F, 0x00, 0xC1, 0x08, 0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00,
            ],
            [0x01, 0x20, 0xFF, 0x00, 0xC1, 0x0D, 0xF2, 0x48, 0x05, 0, 0, 0, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00],
            // Longer than the limit, and not UTF-8.
            [0x07, 0x00, 0xFF, 0x00, 0xC1, 0x07, 0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00],
            [0x1F, 0x20, 0xFF, 0x01, 0x03, 0x01, 0x02, 0xC3, 0xA9, 0x80, 0x01, 0xFF],
        ]
    ) { input in
        guard input.count > 3 else { return }
        let terms = PackedTerms(input[0], limit: Int(input[1]) * 8, page: Int(input[2]) + 1)
        let (whole, pieces) = Array(input[3...]).cutByItself
        let (one, other) = (Messages([whole], terms), Messages(pieces, terms))
        // A match behind the window is damage, unless zlib still has those bytes in its page.
        if terms.hasWholeWindow || one.failure == nil && other.failure == nil {
            try expect(one == other, "cut in pieces they are other messages: \(one), and \(other)")
        }
        for (first, second) in zip(one.messages, other.messages) {
            try expect(first == second, "cut in pieces \(first.debugDescription) is \(second.debugDescription)")
        }
        for account in [one, other] {
            for (index, message) in account.messages.enumerated() {
                try expect(message.count <= terms.limit, "a message of \(message.count) bytes")
                try expect(
                    !account.texts.contains(index) || String(validating: message, as: UTF8.self) != nil,
                    "a text is not UTF-8"
                )
            }
            try expect(account.remark == nil, account.remark ?? "")
        }
    }

    private struct PackedTerms {
        let compression: WebSocketCompression?
        let limit: Int
        let page: Int

        init(_ bits: UInt8, limit: Int, page: Int) {
            compression =
                bits & 0x10 != 0
                ? nil
                : WebSocketCompression(serverResetsContext: bits & 8 != 0, serverWindowBits: 8 + Int(bits & 7))
            self.limit = limit
            self.page = page
        }

        var hasWholeWindow: Bool { compression?.serverWindowBits ?? 15 == 15 }
    }

    /// The messages that were made of what a server sent.
    private struct Messages: Equatable {
        var messages: [[UInt8]] = []
        /// Which of them are texts.
        var texts: Set<Int> = []
        var failure: String?
        /// Where the client and the test server disagree.
        var remark: String?

        init(_ pieces: [[UInt8]], _ terms: PackedTerms) {
            var decoder = WebSocketDecoder(
                allowsCompression: terms.compression != nil,
                messageLimit: terms.limit
            )
            var assembly = MessageAssembly(compression: terms.compression, limit: terms.limit)
            let page = UnsafeMutableRawBufferPointer.allocate(byteCount: terms.page, alignment: 16)
            defer { page.deallocate() }
            var (history, packed): ([UInt8], [UInt8]?) = ([], nil)
            do {
                try decoder.decode(pieces) { event, announced in
                    switch event {
                    case .needMore: assembly.keep()
                    case .begin(let opcode, let isCompressed):
                        packed = isCompressed ? [] : nil
                        assembly.begin(isText: opcode == .text, isCompressed: isCompressed)
                    case .piece(let bytes):
                        packed? += bytes
                        try assembly.add(bytes, announced: announced, page: page)
                    case .end:
                        let message = try assembly.end(page: page)
                        if message.isText { texts.insert(messages.count) }
                        messages.append(message.withBytes { Array($0) })
                        guard let packed else { break }
                        // A server may leave the tail in, or send a last block.
                        let plain =
                            (try? Inflate.decompressed(packed + [0, 0, 0xFF, 0xFF], after: history))
                            ?? (try? Inflate.decompressed(packed, after: history))
                        if plain != messages.last { remark = "it is unpacked as \(plain as [UInt8]?)" }
                        history = Array((history + (plain ?? [])).suffix(1 << 15))
                        if terms.compression?.serverResetsContext == true { history = [] }
                    case .fragment, .ping, .pong, .close: break
                    }
                }
            } catch {
                failure = "\(error)"
            }
        }
    }
}

extension WebSocketDecoder {
    /// Decodes one piece after the other.
    ///
    /// - Parameter take: Gets each event, with the bytes that are announced then. Of each piece, the last is `needMore`.
    fileprivate mutating func decode(_ pieces: [[UInt8]], _ take: (Event, _ announced: Int) throws -> Void) throws {
        for piece in pieces {
            try piece.span.withUnsafeBytes { piece in
                var rest = piece
                while true {
                    let step = try decode(rest)
                    rest = UnsafeRawBufferPointer(rebasing: rest[step.consumed...])
                    try take(step.event, announced)
                    if case .needMore = step.event { return }
                }
            }
        }
    }
}
