import AFWire

@testable import AFURLSession
@testable import AFURLTypes

@Suite("Parts of multipart/x-mixed-replace")
struct MixedReplaceParserTests {
    /// The parts, however the bytes were cut.
    private static func parts(_ text: String, boundary: String = "frame", pieces: [Int] = []) throws -> [String] {
        var parser = try #require(MixedReplaceParser(boundary: Array(boundary.utf8)))
        var parts: [String] = []
        func note(_ found: [MixedReplaceParser.Piece]) {
            for piece in found {
                switch piece {
                case .head(let headers):
                    let type = headers.firstBytes("Content-Type").map { String(decoding: $0, as: UTF8.self) }
                    parts.append("[\(type ?? "")]")
                case .body(let data): parts[parts.count - 1] += String(decoding: data, as: UTF8.self)
                }
            }
        }
        let bytes = Array(text.utf8)
        var start = 0
        for end in pieces + [bytes.count] {
            note(try parser.receive(bytes[start..<end]))
            start = end
        }
        if let rest = parser.finish() { parts[parts.count - 1] += String(decoding: rest, as: UTF8.self) }
        return parts
    }

    private static let usual =
        "preamble\r\n--frame\r\nContent-Type: text/plain\r\n\r\none\r\n--frame  \r\n\r\ntwo\r\n\r\n--fram\r\n"
        + "\r\n--frame\nContent-Type: a/b\n\nthree\n--frame--\r\nepilogue\r\n--frame\r\n\r\nno"

    private static let found = ["[text/plain]one", "[]two\r\n\r\n--fram\r\n", "[a/b]three"]

    @Test func `parts are told apart at delimiters, whatever looks like one`() throws {
        #expect(try Self.parts(Self.usual) == Self.found)
    }

    @Test func `it does not matter how the bytes are cut`() throws {
        let count = Self.usual.utf8.count
        for first in 0...count {
            #expect(try Self.parts(Self.usual, pieces: [first]) == Self.found, "cut at \(first)")
        }
        #expect(try Self.parts(Self.usual, pieces: Array(0...count)) == Self.found)
    }

    @Test(arguments: [
        ("--frame\r\n\r\n", ["[]"]),
        ("--frame\r\n\r\n--frame\r\n\r\nx", ["[]", "[]x"]),
        ("--frame\r\n\r\nabc\r\n--frame", ["[]abc\r\n--frame"]),
        ("--frame\r\n\r\nabc\r", ["[]abc\r"]),
        ("--frame\r\n\r\na\r\n--framework\r\nb\r\n--frame-x\r\n", ["[]a\r\n--framework\r\nb\r\n--frame-x\r\n"]),
        ("--frame--", []),
        ("no delimiter at all", []),
        ("x--frame\r\n\r\n", []),
        ("", []),
    ])
    func `edges`(text: String, parts: [String]) throws {
        #expect(try Self.parts(text) == parts)
        #expect(try Self.parts(text, pieces: Array(0...text.utf8.count)) == parts)
    }

    @Test func `content is told as soon as it cannot be a delimiter`() throws {
        var parser = try #require(MixedReplaceParser(boundary: Array("frame".utf8)))
        _ = try parser.receive("--frame\r\n\r\n".utf8)

        #expect(try parser.receive("picture\r\n".utf8) == [.body(Data("picture".utf8))])
        #expect(try parser.receive("--".utf8).isEmpty)
        #expect(try parser.receive("x".utf8) == [.body(Data("\r\n--x".utf8))])
    }

    @Test func `heads are bounded and checked`() throws {
        var endless = try #require(MixedReplaceParser(boundary: Array("b".utf8)))
        _ = try endless.receive("--b\r\n".utf8)
        #expect(throws: MixedReplaceParser.Failure.headTooLong) {
            for _ in 0..<1000 { _ = try endless.receive("X-A: 0123456789012345\r\n".utf8) }
        }
        for head in ["no colon\r\n\r\n", " : x\r\n\r\n", "A: \u{1}\r\n\r\n", "A:1\r\nB b:1\n\n"] {
            var parser = try #require(MixedReplaceParser(boundary: Array("b".utf8)))
            _ = try parser.receive("--b\r\n".utf8)
            #expect(throws: MixedReplaceParser.Failure.malformedHead) { try parser.receive(head.utf8) }
        }
    }

    @Test func `nothing is kept but what may be a delimiter`() throws {
        var parser = try #require(MixedReplaceParser(boundary: Array(repeating: UInt8(ascii: "b"), count: 70)))
        for _ in 0..<100 { #expect(try parser.receive([UInt8](repeating: 0x62, count: 10_000)).isEmpty) }
        #expect(MemoryLayout.size(ofValue: parser) < 64)
        #expect(parser.finish() == nil)
    }

    @Test(.timeLimit(.minutes(1)))
    func `half a million parts in one piece are told in time that grows with their number`() throws {
        var parser = try #require(MixedReplaceParser(boundary: Array("a".utf8)))

        let parts = try parser.receive(Array(String(repeating: "--a\n\n", count: 1 << 19).utf8))

        #expect(parts.count == 1 << 19)
    }

    @Test(arguments: ["", String(repeating: "x", count: 71), "a\r\nb", "ä"])
    func `what can be no boundary is none`(boundary: String) {
        #expect(MixedReplaceParser(boundary: Array(boundary.utf8)) == nil)
    }
}
