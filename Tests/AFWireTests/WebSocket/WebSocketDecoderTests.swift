import Testing

@testable import AFWire

/// The frames of a server, by RFC 6455 §5, in any pieces.
struct WebSocketDecoderTests {
    /// What a decoder reads, in words: `text[hello]`, `ping[a]`, `close 1000 bye`, or the code and reason of a violation.
    private static func read(_ pieces: [ArraySlice<UInt8>], compressed: Bool = false, limit: Int = 1 << 20) -> [String]
    {
        var decoder = WebSocketDecoder(allowsCompression: compressed, messageLimit: limit)
        var (all, message, kind): ([String], [UInt8], String) = ([], [], "")
        do {
            for piece in pieces {
                try piece.withUnsafeBytes { bytes in
                    var offset = 0
                    while true {
                        let step = try decoder.decode(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
                        offset += step.consumed
                        switch step.event {
                        case .needMore:
                            #expect(offset == bytes.count)
                            return
                        case .begin(let opcode, let isCompressed): kind = "\(opcode)\(isCompressed ? "*" : "")"
                        case .fragment: break
                        case .piece(let bytes): message += bytes
                        case .end:
                            all.append("\(kind)[\(String(decoding: message, as: UTF8.self))]")
                            message = []
                        case .ping(let payload): all.append("ping[\(String(decoding: payload, as: UTF8.self))]")
                        case .pong(let payload): all.append("pong[\(String(decoding: payload, as: UTF8.self))]")
                        case .close(let close):
                            all.append("close \(close.code.map { "\($0)" } ?? "-") \(close.reason)")
                        }
                    }
                }
            }
        } catch {
            let violation = error as? WebSocketViolation
            all.append("\(violation?.code ?? 0) \(violation?.reason.description ?? "\(error)")")
        }
        return all
    }

    private static func read(_ bytes: [UInt8], compressed: Bool = false, limit: Int = 1 << 20) -> [String] {
        read([bytes[...]], compressed: compressed, limit: limit)
    }

    /// A frame of a server, with the length in the fewest bytes.
    private static func frame(_ first: UInt8, _ payload: some Collection<UInt8>) -> [UInt8] {
        let count = payload.count
        let length: [UInt8] =
            count < 126
            ? [UInt8(count)]
            : count < 65_536
                ? [126, UInt8(count >> 8), UInt8(count & 0xFF)]
                : [127] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
        return [first] + length + payload
    }

    private static func frame(_ first: UInt8, _ text: String = "") -> [UInt8] { frame(first, Array(text.utf8)) }

    private static func close(_ code: UInt16, _ reason: [UInt8] = []) -> [UInt8] {
        frame(0x88, [UInt8(code >> 8), UInt8(code & 0xFF)] + reason)
    }

    // MARK: - What is read

    private static let valid: [(bytes: [UInt8], read: [String])] = [
        ([], []),
        (frame(0x81, "Hello"), ["text[Hello]"]),
        (frame(0x82, "Hello"), ["binary[Hello]"]),
        (frame(0x81), ["text[]"]),
        (frame(0x82), ["binary[]"]),
        (frame(0x01, "Hel") + frame(0x80, "lo"), ["text[Hello]"]),
        (frame(0x01, "Hel") + frame(0x00, "l") + frame(0x80, "o"), ["text[Hello]"]),
        (frame(0x02) + frame(0x00) + frame(0x80), ["binary[]"]),
        (frame(0x01, "Hel") + frame(0x89, "a") + frame(0x80, "lo"), ["ping[a]", "text[Hello]"]),
        (frame(0x01) + frame(0x89) + frame(0x8A) + frame(0x80, "a"), ["ping[]", "pong[]", "text[a]"]),
        (frame(0x89) + frame(0x8A, "b"), ["ping[]", "pong[b]"]),
        (frame(0x89, String(repeating: "a", count: 125)), ["ping[\(String(repeating: "a", count: 125))]"]),
        (frame(0x81, "a") + frame(0x82, "b"), ["text[a]", "binary[b]"]),
        (frame(0x81, "a") + frame(0x89, "b") + frame(0x89, "c"), ["text[a]", "ping[b]", "ping[c]"]),
        (frame(0x81, String(repeating: "a", count: 125)), ["text[\(String(repeating: "a", count: 125))]"]),
        (frame(0x81, String(repeating: "a", count: 126)), ["text[\(String(repeating: "a", count: 126))]"]),
        (frame(0x82, String(repeating: "a", count: 300)), ["binary[\(String(repeating: "a", count: 300))]"]),
        (frame(0x88), ["close - "]),
        (close(1000), ["close 1000 "]),
        (close(1001, Array("bye ä".utf8)), ["close 1001 bye ä"]),
        (close(4999, Array(repeating: 0x61, count: 123)), ["close 4999 \(String(repeating: "a", count: 123))"]),
        (frame(0x01, "a") + close(1011), ["close 1011 "]),
        (close(1000) + frame(0x81, "a") + [0xFF, 0xFF], ["close 1000 "]),
    ]

    @Test func `messages, fragments and control frames are read`() {
        for row in Self.valid { #expect(Self.read(row.bytes) == row.read) }
    }

    @Test(arguments: [65_535, 65_536, 100_000])
    func `lengths of each form are read`(count: Int) {
        let text = String(repeating: "x", count: count)
        #expect(Self.read(Self.frame(0x81, text)) == ["text[\(text)]"])
    }

    // MARK: - What is refused

    @Test(arguments: [UInt8(0x3), 0x4, 0x5, 0x6, 0x7, 0xB, 0xC, 0xD, 0xE, 0xF])
    func `a reserved opcode is refused with its first byte`(opcode: UInt8) {
        for first in [opcode, opcode | 0x80] { #expect(Self.read([first]) == ["1002 a reserved opcode"]) }
    }

    @Test(arguments: [UInt8(0x10), 0x20, 0x30, 0x50, 0x70])
    func `a reserved bit is refused with its first byte`(bits: UInt8) {
        for opcode: UInt8 in [0x1, 0x2, 0x8, 0x9, 0xA] {
            for compressed in [false, true] {
                #expect(Self.read([0x80 | bits | opcode], compressed: compressed) == ["1002 a reserved bit is set"])
            }
        }
    }

    @Test func `the bit of compression is for the first frame of a message, if both sides want it`() {
        let refusal = ["1002 a frame is compressed that may not be"]
        for opcode: UInt8 in [0x1, 0x2] {
            #expect(Self.read([0xC0 | opcode]) == refusal)
            #expect(Self.read(Self.frame(0xC0 | opcode, "a"), compressed: true).first?.contains("*[a]") == true)
        }
        for opcode: UInt8 in [0x8, 0x9, 0xA] { #expect(Self.read([0xC0 | opcode], compressed: true) == refusal) }
        #expect(Self.read(Self.frame(0x41, "a") + [0xC0], compressed: true) == refusal)
        let both = Self.frame(0x41, "a") + Self.frame(0x80, "b") + Self.frame(0x81, "c")
        #expect(Self.read(both, compressed: true) == ["text*[ab]", "text[c]"])
    }

    @Test(arguments: [UInt8(0x8), 0x9, 0xA])
    func `a control frame is whole, and has 125 bytes at most`(opcode: UInt8) {
        #expect(Self.read([opcode]) == ["1002 a control frame in fragments"])
        for length: UInt8 in [126, 127] {
            #expect(Self.read([0x80 | opcode, length]) == ["1002 a control frame of more than 125 bytes"])
        }
    }

    @Test func `fragments belong to one message`() {
        #expect(Self.read([0x80]) == ["1002 a continuation of no message"])
        #expect(Self.read([0x00]) == ["1002 a continuation of no message"])
        #expect(Self.read(Self.frame(0x81, "a") + [0x80]) == ["text[a]", "1002 a continuation of no message"])
        for first: UInt8 in [0x01, 0x81, 0x02, 0x82] {
            #expect(Self.read(Self.frame(0x01, "a") + [first]) == ["1002 a message within a message"])
        }
    }

    @Test func `a server does not mask`() {
        #expect(Self.read([0x81, 0x80]) == ["1002 a masked frame from a server"])
        #expect(Self.read([0x89, 0x85]) == ["1002 a masked frame from a server"])
        #expect(Self.read([0x81, 0xFE]) == ["1002 a masked frame from a server"])
    }

    @Test func `a length is written in the fewest bytes, and has 63 bits`() {
        let tooLong = ["1002 a length in more bytes than it needs"]
        #expect(Self.read([0x81, 126, 0, 125]) == tooLong && Self.read([0x81, 126, 0, 0]) == tooLong)
        #expect(Self.read([0x81, 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]) == tooLong)
        let bits = ["1002 a length of more than 63 bits"]
        #expect(Self.read([0x81, 127, 0x80, 0, 0, 0, 0, 0, 0, 0]) == bits)
        #expect(Self.read([0x81, 127] + Array(repeating: 0xFF, count: 8)) == bits)
    }

    @Test(arguments: [UInt16(0), 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535])
    func `some codes stand in no Close frame`(code: UInt16) {
        #expect(Self.read(Self.close(code)) == ["1002 a code that no Close frame may have"])
        #expect(!WebSocketClose.maySend(code))
    }

    @Test(arguments: [
        UInt16(1000), 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999,
    ])
    func `others may`(code: UInt16) {
        #expect(Self.read(Self.close(code)) == ["close \(code) "])
    }

    @Test func `a Close frame has a whole code, and a reason in UTF-8`() {
        #expect(Self.read(Self.frame(0x88, [0x03])) == ["1002 a Close frame with half a code"])
        let bad = ["1007 the reason of a Close frame is not UTF-8"]
        for reason: [UInt8] in [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xC0, 0x80]] {
            #expect(Self.read(Self.close(1000, reason)) == bad)
        }
    }

    private static let tooLong = "1009 a message is longer than the limit"

    @Test func `a message has a limit, however many frames it has`() {
        let refusal = Self.tooLong
        #expect(Self.read(Self.frame(0x82, "12345"), limit: 5) == ["binary[12345]"])
        #expect(Self.read([0x82, 6], limit: 5) == [refusal])
        #expect(Self.read([0x82, 127, 0x7F] + Array(repeating: 0xFF, count: 7)) == [refusal])
        #expect(Self.read(Self.frame(0x02, "123") + [0x00, 3], limit: 5) == [refusal])
        let two = Self.frame(0x82, "12345") + Self.frame(0x82, "12345")
        #expect(Self.read(two, limit: 5) == ["binary[12345]", "binary[12345]"])
        // Control frames within it do not count.
        #expect(
            Self.read(Self.frame(0x02, "123") + Self.frame(0x89, "123456") + Self.frame(0x80, "45"), limit: 5).count
                == 2
        )
    }

    @Test(arguments: [0, -1, .min])
    func `without room only empty messages are read`(limit: Int) {
        #expect(Self.read(Self.frame(0x82) + [0x82, 1], limit: limit) == ["binary[]", Self.tooLong])
    }

    @Test func `a compressed message may be a little longer on its way`() {
        let most = Self.frame(0xC2, Array(repeating: 0x61, count: 321))
        #expect(Self.read(most, compressed: true, limit: 256).first?.hasPrefix("binary*[") == true)
        #expect(Self.read([0xC2, 126, 1, 66], compressed: true, limit: 256) == [Self.tooLong])
        #expect(Self.read([0x82, 126, 1, 1], compressed: true, limit: 256) == [Self.tooLong])
        // So may its further frames.
        let first = Self.frame(0x42, Array(repeating: 0x61, count: 300))
        let second = Self.frame(0x80, Array(repeating: 0x61, count: 21))
        #expect(Self.read(first + second, compressed: true, limit: 256).first?.hasPrefix("binary*[") == true)
        #expect(Self.read(first + [0x80, 22], compressed: true, limit: 256) == [Self.tooLong])
        #expect(Self.read([0xC2, 126, 2, 66], compressed: true, limit: 512).isEmpty)
        #expect(Self.read([0xC2, 126, 2, 67], compressed: true, limit: 512) == [Self.tooLong])
    }

    @Test(arguments: [[0x00, 0], [0x00, 1, 0x61], [0x89, 0], [0x8A, 0]] as [[UInt8]])
    func `T-RES-27 one call reads one frame at most, so the caller decides how many it takes`(frame: [UInt8]) throws {
        var decoder = WebSocketDecoder(messageLimit: 1000)
        let input = Self.frame(0x02) + Array(repeatElement(frame, count: 100).joined())
        var calls = 0
        try input.withUnsafeBytes { bytes in
            var offset = 0
            while offset < bytes.count {
                let step = try decoder.decode(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
                #expect(step.consumed <= frame.count)
                offset += step.consumed
                calls += 1
            }
        }
        #expect(calls >= 101)
    }

    @Test func `a limit that changes counts for the message under way`() throws {
        func refusal(_ limit: Int, _ next: [UInt8]) -> WebSocketViolation? {
            var decoder = WebSocketDecoder(messageLimit: 10)
            func decode(_ bytes: [UInt8]) throws {
                try bytes.withUnsafeBytes { bytes in
                    var offset = 0
                    while offset < bytes.count {
                        offset += try decoder.decode(UnsafeRawBufferPointer(rebasing: bytes[offset...])).consumed
                    }
                }
            }
            #expect(throws: Never.self) { try decode(Self.frame(0x02, "123")) }
            decoder.limitMessages(to: limit)
            return #expect(throws: WebSocketViolation.self) { try decode(next) }
        }
        let tooBig = WebSocketViolation(code: WebSocketViolation.tooBig, reason: "a message is longer than the limit")
        #expect(refusal(20, [0x80, 18]) == tooBig && refusal(5, [0x80, 3]) == tooBig)
        // What has come is over the limit by itself.
        #expect(
            refusal(2, [0x80, 0]) == tooBig && refusal(0, [0x80, 0]) == tooBig && refusal(-1, [0x80, 0]) == tooBig
        )
        #expect(
            refusal(20, [0x80, 18]) != WebSocketViolation(code: WebSocketViolation.tooBig, reason: "another reason")
        )
        #expect(tooBig != WebSocketViolation(code: WebSocketViolation.internalError, reason: tooBig.reason))
    }

    // MARK: - Pieces

    @Test func `a stream means the same wherever it is cut`() {
        let refused: [[UInt8]] = [
            Self.frame(0x01, "a") + [0x81, 1], [0x81, 126, 0, 125, 1], [0x81, 0x81], Self.close(1005), [0xB1, 0],
        ]
        for bytes in Self.valid.map(\.bytes) + refused {
            let whole = Self.read(bytes)
            #expect(Self.read(bytes.indices.map { bytes[$0...$0] }) == whole)
            for cut in 0...bytes.count where Self.read([bytes[..<cut], bytes[cut...]]) != whole {
                Issue.record("\(bytes) is another stream cut at \(cut)")
            }
        }
    }
}

/// Masks, and the frames of a client.
struct WebSocketWriterTests {
    @Test(arguments: 0..<40)
    func `bytes are masked with the key, whatever the place and the count`(count: Int) {
        let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
        let mask = WebSocketMask(key: 0x3D21_FA37)
        for offset in 0..<8 {
            var bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
            let expected = bytes.enumerated().map { $1 ^ key[($0 + offset) % 4] }
            bytes.withUnsafeMutableBytes { mask.apply(to: $0, at: offset) }
            #expect(bytes == expected)
        }
    }

    @Test func `the example of RFC 6455 is written`() {
        var frames: [UInt8] = []
        Array("Hello".utf8).withUnsafeBytes {
            WebSocketWriter.append(.text, payload: $0, mask: WebSocketMask(key: 0x3D21_FA37), to: &frames)
        }
        #expect(frames == [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58])
    }

    @Test func `only the last frame of a message is final`() {
        var frames: [UInt8] = []
        for isFinal in [false, true] {
            WebSocketWriter.appendHead(.binary, count: 0, isFinal: isFinal, mask: WebSocketMask(key: 0), to: &frames)
        }
        #expect(frames == [0x02, 0x80, 0, 0, 0, 0, 0x82, 0x80, 0, 0, 0, 0])
    }

    @Test(
        arguments: [
            (0, [0x80]), (125, [0xFD]), (126, [0xFE, 0, 126]), (65_535, [0xFE, 0xFF, 0xFF]),
            (65_536, [0xFF, 0, 0, 0, 0, 0, 1, 0, 0]),
        ] as [(Int, [UInt8])]
    )
    func `a frame has its length in the fewest bytes`(count: Int, length: [UInt8]) {
        let head = 1 + length.count
        let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        var frames: [UInt8] = [1, 2, 3]
        let mask = WebSocketMask(key: 0x0102_0304)
        payload.withUnsafeBytes {
            WebSocketWriter.append(.binary, payload: $0, isFinal: false, isCompressed: true, mask: mask, to: &frames)
        }
        var rest = Array(frames[(3 + head + 4)...])
        rest.withUnsafeMutableBytes { mask.apply(to: $0) }
        #expect(frames.count == 3 + head + 4 + count && rest == payload)
        #expect(frames[3] == 0x42 && Array(frames[4..<(3 + head)]) == length)
        #expect(Array(frames[(3 + head)..<(3 + head + 4)]) == [4, 3, 2, 1])
    }
}

/// UTF-8 in pieces.
struct UTF8ValidatorTests {
    private static func isValid(_ pieces: [ArraySlice<UInt8>]) -> Bool {
        var validator = UTF8Validator()
        for piece in pieces where !piece.withUnsafeBytes({ validator.accepts($0) }) { return false }
        return validator.isComplete
    }

    @Test func `the same is valid as for the standard library, in every piece`() {
        var samples: [[UInt8]] = ["", "a", "κόσμε", "ä🦆", "\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}\u{D7FF}\u{E000}"]
            .map {
                Array($0.utf8)
            }
        // Every first byte before every second, and some behind them.
        for first in UInt8(0x80)...0xFF {
            for second in stride(from: UInt8(0x70), to: 0xD0, by: 1) {
                for rest: [UInt8] in [[], [0x80], [0xBF, 0x80], [0x80, 0x80, 0x61], [0xC0], [0x7F]] {
                    samples.append([0x61, first, second] + rest)
                }
            }
        }
        for sample in samples {
            let expected = String(validating: sample, as: UTF8.self) != nil
            guard Self.isValid([sample[...]]) == expected,
                Self.isValid(sample.indices.map { sample[$0...$0] }) == expected
            else {
                Issue.record("\(sample) should be \(expected ? "valid" : "invalid")")
                return
            }
        }
        #expect(samples.count > 50_000)
    }

    @Test func `a byte that cannot be right is refused at once`() {
        for bytes: [UInt8] in [
            [0xC0], [0xC1], [0xF5], [0xFF], [0x80], [0xE0, 0x9F], [0xED, 0xA0], [0xF0, 0x8F], [0xF4, 0x90],
        ] {
            var validator = UTF8Validator()
            #expect(!bytes.withUnsafeBytes { validator.accepts($0) })
        }
        var validator = UTF8Validator()
        let begun: [UInt8] = [0xF4, 0x8F, 0xBF]
        #expect(begun.withUnsafeBytes { validator.accepts($0) } && !validator.isComplete)
    }

    @Test func `long texts are looked at in words, wherever the others stand`() {
        for place in 0..<40 {
            var bytes = [UInt8](repeating: 0x61, count: 40)
            #expect(Self.isValid([bytes[...]]))
            bytes[place] = 0xFF
            #expect(!Self.isValid([bytes[...]]))
            bytes[place] = 0xC3
            #expect(!Self.isValid([bytes[...]]))
        }
    }
}
