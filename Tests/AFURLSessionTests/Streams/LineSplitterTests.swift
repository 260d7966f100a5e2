@testable import AFURLSession
@testable import AFURLTypes

struct LineSplitterTests {
    /// What comes of a body that arrives in these pieces.
    private func lines(_ pieces: [[UInt8]], limit: Int = 100) throws -> [String] {
        var splitter = LineSplitter(limit: limit)
        let text = { (line: [UInt8]) in String(decoding: line, as: UTF8.self) }
        var lines: [String] = []
        for piece in pieces {
            try piece.withUnsafeBytes { bytes in
                var rest = bytes
                while let line = try splitter.next(&rest, form: text) { lines.append(line) }
            }
        }
        if let last = splitter.finish(text) { lines.append(last) }
        return lines
    }

    @Test(
        arguments: [
            ("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\r\nb", ["a", "b"]), ("a\rb\r", ["a", "b"]), ("\n", [""]),
            ("\r\n\r\n", ["", ""]), ("\r\r\n\n", ["", "", ""]), ("a\n\rb", ["a", "", "b"]),
            ("a\u{85}b\u{2028}c\u{B}d\n", ["a\u{85}b\u{2028}c\u{B}d"]), ("é😀\r\nß", ["é😀", "ß"]),
        ] as [(String, [String])]
    )
    func `lines are the same wherever the body is cut`(text: String, expected: [String]) throws {
        let bytes = Array(text.utf8)
        for first in 0...bytes.count {
            for second in first...bytes.count {
                let pieces = [bytes[..<first], bytes[first..<second], bytes[second...]].map(Array.init)
                #expect(try lines(pieces) == expected, "cut at \(first) and \(second)")
            }
        }
    }

    @Test func `bytes that are no UTF-8 are replaced, and the lines around them stay`() throws {
        #expect(try lines([[0x61, 0xFF, 0x0A, 0xC3], [0xA9, 0x0A, 0xE2, 0x82]]) == ["a\u{FFFD}", "é", "\u{FFFD}"])
    }

    @Test func `a line may be as long as the limit and no longer, in however many pieces`() throws {
        let long = Array(repeating: UInt8(ascii: "x"), count: 10)
        #expect(try lines([long + [0x0A] + long], limit: 10) == Array(repeating: "xxxxxxxxxx", count: 2))
        #expect(try lines([Array(long.prefix(4)), Array(long.suffix(6)) + [0x0D]], limit: 10).count == 1)
        #expect(throws: LineSplitter.TooLong.self) { try lines([long], limit: 9) }
        #expect(throws: LineSplitter.TooLong.self) { try lines([Array(long.prefix(6)), long], limit: 10) }
        #expect(try lines([[0x0A, 0x0D, 0x0A]], limit: 0) == ["", ""])
        #expect(throws: LineSplitter.TooLong.self) { try lines([[0x61]], limit: 0) }
    }
}
