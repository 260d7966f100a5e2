/// What a server sends behind its handshake, and what the client makes of it: the ground of RFC 6455 §5 to §8.
struct WebSocketCase: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    /// What the program hears.
    var heard: [String]
    /// What the server gets.
    var answered: [String]
    /// Whether the server's close ends it well.
    let isGood: Bool

    var testDescription: String { name }

    /// The server closes with 1000 behind the bytes, and nothing was wrong with them.
    static func good(
        _ name: String,
        _ bytes: [UInt8],
        _ heard: [String] = [],
        answered: [String] = []
    ) -> WebSocketCase {
        WebSocketCase(
            name: name,
            bytes: bytes + frame(0x88, [3, 232]),
            heard: heard + ["closed 1000", "completed"],
            answered: answered + ["close 1000"],
            isGood: true
        )
    }

    /// The client closes with this code, and the task fails.
    static func bad(
        _ name: String,
        _ bytes: [UInt8],
        _ code: Int = 1002,
        _ error: String = "malformed.frame",
        heard: [String] = [],
        answered: [String] = []
    ) -> WebSocketCase {
        WebSocketCase(
            name: name,
            bytes: bytes,
            heard: heard + ["failed \(error)"],
            answered: answered + ["close \(code)"],
            isGood: false
        )
    }

    static func frame(_ first: UInt8, _ payload: [UInt8] = []) -> [UInt8] { WebSocketProgram.frame(first, payload) }

    static func frame(_ first: UInt8, text: String) -> [UInt8] { frame(first, Array(text.utf8)) }

    /// One after the other. (A chain of `+` takes the compiler minutes.)
    static func joined(_ parts: [UInt8]...) -> [UInt8] { parts.reduce(into: []) { $0 += $1 } }

    static func text(_ text: String) -> [UInt8] { frame(0x81, Array(text.utf8)) }

    static func heard(_ text: String) -> String { WebSocketScene.Log.text(of: .string(text)) }
    static func heard(_ bytes: [UInt8]) -> String { WebSocketScene.Log.text(of: .data(Data(bytes))) }

    static func pong(_ payload: [UInt8]) -> String {
        "pong \(WebSocketScene.Log.short(String(decoding: payload, as: UTF8.self)))"
    }

    static let all: [WebSocketCase] =
        [sizes, pings, reservedBits, reservedOpcodes, fragments, characters, closes, lengths].flatMap(\.self)
}

// MARK: - Framing

extension WebSocketCase {
    private static let lengthsOfInterest = [0, 1, 124, 125, 126, 127, 128, 65_535, 65_536, 65_537, 200_000]

    static let sizes: [WebSocketCase] = lengthsOfInterest.flatMap { count in
        let text = String(repeating: "*", count: count)
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        return [
            good("text of \(count) bytes", frame(0x81, Array(text.utf8)), [heard(text)]),
            good("\(count) bytes", frame(0x82, bytes), [heard(bytes)]),
            good("\(count) bytes twice", joined(frame(0x82, bytes), frame(0x82, bytes)), [heard(bytes), heard(bytes)]),
        ]
    }

    static let lengths: [WebSocketCase] = {
        var cases: [WebSocketCase] = []
        for count in [0, 1, 125] {
            cases.append(bad("\(count) bytes, length in 16 bits", joined([0x82, 126, 0, UInt8(count)], zeros(count))))
        }
        for count in [0, 125, 126, 65_535] {
            let length = (0..<8).reversed().map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
            cases.append(bad("\(count) bytes, length in 64 bits", joined([0x82, 127], length, zeros(count))))
        }
        cases.append(bad("a length of 64 bits", [0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 1]))
        cases.append(bad("2^62 bytes", [0x82, 127, 0x40, 0, 0, 0, 0, 0, 0, 0], 1009, "limit.frame"))
        for opcode: UInt8 in [1, 2, 8, 9, 10] {
            let masked: [UInt8] = [0x80 | opcode, 0x82, 1, 2, 3, 4, 3 ^ 1, 232 ^ 2]
            cases.append(bad("opcode \(opcode) with a mask", masked))
        }
        // The limit is 1 MiB.
        let limit = 1 << 20
        for first: UInt8 in [0x81, 0x82] {
            let kind = first == 0x81 ? "text" : "data"
            cases.append(good("\(kind) up to the limit", frame(first, zeros(limit)), ["\(kind) of \(limit)"]))
            cases.append(bad("\(kind) beyond the limit", frame(first, zeros(limit + 1)), 1009, "limit.frame"))
            let part = frame(first & 0xF, zeros(limit / 2))
            cases.append(
                good(
                    "\(kind) up to the limit in parts",
                    joined(part, frame(0x80, zeros(limit / 2))),
                    ["\(kind) of \(limit)"]
                )
            )
            cases.append(
                bad(
                    "\(kind) beyond the limit in parts",
                    joined(part, frame(0x80, zeros(limit / 2 + 1))),
                    1009,
                    "limit.frame"
                )
            )
        }
        return cases
    }()

    private static func zeros(_ count: Int) -> [UInt8] { Array(repeating: 0, count: count) }

    static let reservedBits: [WebSocketCase] = (1...7).flatMap { bits -> [WebSocketCase] in
        let mark = UInt8(bits) << 4
        let single: [WebSocketCase] = [UInt8(1), 2, 8, 9, 10].map { opcode in
            bad("reserved bits \(bits), opcode \(opcode)", frame(0x80 | mark | opcode, Array("ab".utf8)))
        }
        let others = [
            bad(
                "reserved bits \(bits) behind a message",
                joined(text("a"), frame(0x81 | mark, [])),
                heard: [heard("a")]
            ),
            bad("reserved bits \(bits) in a continuation", joined(frame(0x01, [65]), frame(0x80 | mark, [66]))),
            bad(
                "reserved bits \(bits) behind a ping",
                joined(frame(0x89, [65]), frame(0x89 | mark, [66])),
                answered: [pong([65])]
            ),
        ]
        return single + others
    }

    static let reservedOpcodes: [WebSocketCase] = [UInt8(3), 4, 5, 6, 7, 11, 12, 13, 14, 15].flatMap { opcode in
        [
            bad("opcode \(opcode)", frame(0x80 | opcode, [])),
            bad("opcode \(opcode) with a payload", frame(0x80 | opcode, Array("payload".utf8))),
            bad("opcode \(opcode), not final", frame(opcode, [])),
            bad("opcode \(opcode) behind a message", joined(text("a"), frame(0x80 | opcode, [])), heard: [heard("a")]),
            bad("opcode \(opcode) within a message", joined(frame(0x01, [65]), frame(0x80 | opcode, []))),
        ]
    }
}

// MARK: - Control frames

extension WebSocketCase {
    static let pings: [WebSocketCase] = {
        var cases: [WebSocketCase] = []
        for count in [0, 1, 2, 8, 64, 124, 125] {
            let payload = (0..<count).map { UInt8(32 + $0 % 64) }
            cases.append(good("a ping of \(count) bytes", frame(0x89, payload), answered: [pong(payload)]))
            cases.append(good("a pong of \(count) bytes that answers nothing", frame(0x8A, payload)))
            cases.append(
                good(
                    "a ping of \(count) bytes between two messages",
                    joined(text("a"), frame(0x89, payload), text("b")),
                    [heard("a"), heard("b")],
                    answered: [pong(payload)]
                )
            )
        }
        for count in [126, 127, 1000, 65_536] {
            for opcode: UInt8 in [8, 9, 10] {
                let payload: [UInt8] = Array(repeating: 3, count: count)
                cases.append(bad("opcode \(opcode) of \(count) bytes", frame(0x80 | opcode, payload)))
            }
        }
        for opcode: UInt8 in [8, 9, 10] {
            cases.append(bad("opcode \(opcode) in fragments", joined(frame(opcode, [3, 232]), frame(0x80, []))))
        }
        let binary: [UInt8] = [0, 0xFF, 0xFE, 0xFD, 0x80]
        cases.append(good("a ping that is no text", frame(0x89, binary), answered: [pong(binary)]))
        let ten = (0..<10).map { [UInt8(48 + $0)] }
        cases.append(good("ten pings", ten.flatMap { frame(0x89, $0) }, answered: ten.map(pong)))
        cases.append(
            good("a pong for no ping, then a ping", joined(frame(0x8A, [1]), frame(0x89, [50])), answered: [pong([50])])
        )
        return cases
    }()

    static let closes: [WebSocketCase] = {
        var cases: [WebSocketCase] = []
        func payload(_ code: Int, _ reason: [UInt8] = []) -> [UInt8] {
            [UInt8(code >> 8), UInt8(code & 0xFF)] + reason
        }
        func closed(_ name: String, _ bytes: [UInt8], _ code: Int, _ reason: String = "") -> WebSocketCase {
            WebSocketCase(
                name: name,
                bytes: bytes,
                heard: ["closed \(code)\(reason.isEmpty ? "" : " \(reason)")", "completed"],
                answered: [code == 1005 ? "close" : "close \(code)"],
                isGood: true
            )
        }
        for code in [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999] {
            cases.append(closed("code \(code)", frame(0x88, payload(code)), code))
            let reason = "because"
            cases.append(
                closed("code \(code) with a reason", frame(0x88, payload(code, Array(reason.utf8))), code, reason)
            )
        }
        for code in [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535] {
            cases.append(bad("code \(code), which no frame may have", frame(0x88, payload(code))))
        }
        cases.append(closed("no code", frame(0x88, []), 1005))
        cases.append(bad("half a code", frame(0x88, [3])))
        let long = String(repeating: "*", count: 123)
        cases.append(closed("a reason of 123 bytes", frame(0x88, payload(1000, Array(long.utf8))), 1000, long))
        cases.append(
            closed("a reason in Greek", frame(0x88, payload(1000, Array("κόσμε".utf8))), 1000, "κόσμε")
        )
        for reason: [UInt8] in [[0xCE], [0xFF], [65, 0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80]] {
            let bytes = frame(0x88, payload(1000, reason))
            cases.append(bad("a reason that is no UTF-8: \(reason)", bytes, 1007))
        }
        let close = frame(0x88, payload(1000))
        cases.append(closed("a message behind the close", joined(close, text("late")), 1000))
        cases.append(closed("a ping behind the close", joined(close, frame(0x89, [1])), 1000))
        cases.append(closed("nonsense behind the close", joined(close, [0xFF, 0xFF, 0xFF]), 1000))
        cases.append(closed("another close behind the close", joined(close, frame(0x88, payload(1001))), 1000))
        cases.append(closed("a close within a message", joined(frame(0x01, [65]), close), 1000))
        cases.append(
            closed("a close behind a part of a message", joined(frame(0x01, [65]), frame(0x00, [66]), close), 1000)
        )
        return cases
    }()
}

// MARK: - Messages

extension WebSocketCase {
    /// A message cut into parts of so many bytes.
    private static func parts(_ opcode: UInt8, _ bytes: [UInt8], of count: Int) -> [UInt8] {
        var (frames, rest, first): ([UInt8], ArraySlice<UInt8>, UInt8) = ([], bytes[...], opcode)
        repeat {
            let part = rest.prefix(count)
            rest = rest.dropFirst(count)
            frames += frame(first | (rest.isEmpty ? 0x80 : 0), Array(part))
            first = 0
        } while !rest.isEmpty
        return frames
    }

    static let fragments: [WebSocketCase] = {
        var cases: [WebSocketCase] = []
        let word = "a message in parts"
        let bytes = Array(word.utf8)
        for count in [1, 2, 3, 5, 7, 17, 18] {
            cases.append(good("text in parts of \(count)", parts(1, bytes, of: count), [heard(word)]))
            cases.append(good("data in parts of \(count)", parts(2, bytes, of: count), [heard(bytes)]))
        }
        for count in [64, 1000, 4096, 65_536, 100_000] {
            let long: [UInt8] = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) & 0x7F }
            cases.append(good("much data in parts of \(count)", parts(2, long, of: count), [heard(long)]))
            let text = String(decoding: long, as: UTF8.self)
            cases.append(good("much text in parts of \(count)", parts(1, long, of: count), [heard(text)]))
        }
        let (begin, end) = (frame(0x01, Array("be".utf8)), frame(0x80, Array("en".utf8)))
        cases += [
            good("empty parts", joined(frame(0x01, []), frame(0x00, []), frame(0x80, [])), [heard("")]),
            good("an empty part first", joined(frame(0x01, []), end), [heard("en")]),
            good("an empty part last", joined(begin, frame(0x80, [])), [heard("be")]),
            good("empty parts between", joined(begin, frame(0, []), frame(0, []), end), [heard("been")]),
            good("a ping between", joined(begin, frame(0x89, [51]), end), [heard("been")], answered: [pong([51])]),
            good("a pong between", joined(begin, frame(0x8A, [51]), end), [heard("been")]),
            good(
                "pings between all parts",
                joined(begin, frame(0x89, [51]), frame(0, [45]), frame(0x89, [52]), end),
                [heard("be-en")],
                answered: [pong([51]), pong([52])]
            ),
            good("two in parts", joined(begin, end, begin, end), [heard("been"), heard("been")]),
            bad("the last part alone", end),
            bad("a part alone", frame(0x00, [65])),
            bad("an empty part alone", frame(0x80, [])),
            bad("a part behind a message", joined(text("a"), end), heard: [heard("a")]),
            bad("a part behind a message in parts", joined(begin, end, frame(0x00, [65])), heard: [heard("been")]),
            bad("a text within a text", joined(begin, text("a"))),
            bad("data within a text", joined(begin, frame(0x82, [1]))),
            bad("a text in parts within a text", joined(begin, begin)),
            bad("a text within data", joined(frame(0x02, [1]), text("a"))),
            bad("data within data", joined(frame(0x02, [1]), frame(0x82, [1]))),
            bad(
                "a text within a text, behind a ping",
                joined(begin, frame(0x89, [51]), text("a")),
                answered: [pong([51])]
            ),
        ]
        return cases
    }()

    private static let valid = [
        "", "a", "\u{0}", "\u{7F}", "\u{80}", "\u{7FF}", "\u{800}", "\u{FFF}", "\u{1000}", "\u{CFFF}", "\u{D7FF}",
        "\u{E000}", "\u{FFFD}", "\u{FFFD}x", "\u{10000}", "\u{1FFFD}", "\u{2FFFD}", "\u{3FFFD}",
        "\u{40000}", "\u{FFFFD}", "\u{100000}", "\u{10FFFC}", "\u{10FFFD}", "κόσμε", "Hello-µ@ßöäüàá-UTF-8!!", "日本語",
        "👩‍👩‍👧", "e\u{301}", "\u{FEFF}bom", "tab\tline\n",
    ]

    private static let invalid: [(String, [UInt8])] = [
        ("a continuation alone", [0x80]), ("the last continuation alone", [0xBF]),
        ("continuations", [0x80, 0xBF, 0x80]),
        ("C0", [0xC0, 0x80]), ("C1", [0xC1, 0xBF]), ("two bytes cut", [0xC2]), ("two bytes and a letter", [0xC2, 65]),
        ("DF and a letter", [0xDF, 65]), ("overlong in three", [0xE0, 0x80, 0x80]), ("E0 9F", [0xE0, 0x9F, 0xBF]),
        ("three bytes cut after one", [0xE1]), ("three bytes cut after two", [0xE1, 0x80]),
        ("three bytes and a letter", [0xE1, 0x80, 65]), ("the first surrogate", [0xED, 0xA0, 0x80]),
        ("the last surrogate", [0xED, 0xBF, 0xBF]), ("a pair of surrogates", [0xED, 0xA0, 0x80, 0xED, 0xB0, 0x80]),
        ("EF cut", [0xEF, 0xBF]), ("overlong in four", [0xF0, 0x80, 0x80, 0x80]), ("F0 8F", [0xF0, 0x8F, 0xBF, 0xBF]),
        ("four bytes cut after one", [0xF1]), ("four bytes cut after two", [0xF1, 0x80]),
        ("four bytes cut after three", [0xF1, 0x80, 0x80]), ("four bytes and a letter", [0xF1, 0x80, 0x80, 65]),
        ("beyond the last character", [0xF4, 0x90, 0x80, 0x80]), ("F5", [0xF5, 0x80, 0x80, 0x80]),
        ("five bytes", [0xF8, 0x88, 0x80, 0x80, 0x80]), ("six bytes", [0xFC, 0x84, 0x80, 0x80, 0x80, 0x80]),
        ("FE", [0xFE]), ("FF", [0xFF]), ("FE FE FF FF", [0xFE, 0xFE, 0xFF, 0xFF]),
    ]

    static let characters = validCases + invalidCases

    private static let validCases: [WebSocketCase] = valid.enumerated().flatMap { number, text -> [WebSocketCase] in
        let bytes = Array(text.utf8)
        return [
            good("valid text \(number)", frame(0x81, bytes), [heard(text)]),
            good("valid text \(number) in single bytes", parts(1, bytes, of: 1), [heard(text)]),
            good("valid text \(number) behind ASCII", frame(0x81, text: "ascii \(text)"), [heard("ascii \(text)")]),
        ]
    }

    private static let invalidCases: [WebSocketCase] = invalid.flatMap { name, bytes -> [WebSocketCase] in
        let behindText = frame(0x81, joined(Array("twelve bytes".utf8), bytes))
        return [
            bad("not UTF-8: \(name)", frame(0x81, bytes), 1007),
            bad("not UTF-8 in single bytes: \(name)", parts(1, bytes, of: 1), 1007),
            bad("not UTF-8 behind text: \(name)", behindText, 1007),
            bad(
                "not UTF-8 behind a message: \(name)",
                joined(text("a"), frame(0x81, bytes)),
                1007,
                heard: [heard("a")]
            ),
            good("as data: \(name)", frame(0x82, bytes), [heard(bytes)]),
        ]
    }
}
