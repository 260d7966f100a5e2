import AFWire
import Testing

/// The chunked coding, T-MSG-10 to 15.
@Suite struct ChunkTests {
    private static let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    private static func row(_ chunks: String, _ expected: WireRow.Expected) -> WireRow {
        WireRow(head + chunks, expected)
    }

    @Test(arguments: [
        "+5", "-5", "0x5", " 5", "\t5", "5 5", "5_0", "5.", "g", "", "fffffffffffffffff", "00000000000000001",
        "8000000000000000", "ffffffffffffffff", "\u{FF15}", "5h", "5,", "5\u{B}", "5\0",
    ])
    func `T-MSG-10 a chunk size that is not 1 to 16 digits is refused`(size: String) {
        Self.row("\(size)\r\nhello\r\n0\r\n\r\n", .refused(.chunk)).check()
    }

    @Test(arguments: ["5", "05", "0000000000000005", "5;a", "5;a=b", "5;a=\"b;c\"", "5;a=\"\\\"\""])
    func `T-MSG-10 a chunk size of up to 16 digits is read`(size: String) {
        Self.row("\(size)\r\nhello\r\n0\r\n\r\n", .reused(200, "hello")).check()
    }

    @Test func `T-MSG-10 a chunk size is accepted exactly if a wide integer says so`() {
        var random = SeededGenerator(seed: 10)
        let alphabet = Array("0123456789abcdefABCDEF" + "0123456789abcdefABCDEF" + "gG+-x; ")
        let whole = Delivery(description: "whole", cuts: [])

        for _ in 0..<20_000 {
            let count = Int.random(in: 0...18, using: &random)
            let isClean = Bool.random(using: &random)
            let size = (0..<count).map { _ in (isClean ? alphabet[..<22] : alphabet[...]).randomElement(using: &random)!
            }
            guard !size.contains(";") else { continue }
            // Blanks behind the digits are read, and not what they may hide.
            let digits = String(size.prefix { $0 != " " })
            let value = digits.count <= 16 && !digits.isEmpty ? UInt128(digits, radix: 16) : nil
            let isGood =
                digits.allSatisfy(\.isHexDigit) && size.dropFirst(digits.count).allSatisfy { $0 == " " }
                && value != nil && value! <= UInt128(Int64.max)

            let outcome = ResponseSetting().outcome(of: Array((Self.head + String(size) + "\r\n!").utf8), whole)

            #expect(outcome.error == (isGood ? nil : .chunk), "\(String(size).debugDescription)")
            if isGood, value != 0 { #expect(outcome.text == "!") }
        }
    }

    @Test(arguments: [
        row("5\r\nhello\r\n0\r\n\r\n", .reused(200, "hello")),
        row("5\r\nhello\r\n000\r\n\r\n", .reused(200, "hello")),
        row("5\r\nhello\r\n0000000000000000\r\n\r\n", .reused(200, "hello")),
        row("5\r\nhello\r\n0;ext\r\n\r\n", .reused(200, "hello")),
        row("5\r\nhello\r\n\r\n\r\n", .refused(.chunk)),
        row("5\r\nhello\r\n;ext\r\n\r\n", .refused(.chunk)),
        row("\r\n\r\n", .refused(.chunk)),
    ])
    func `T-MSG-11 the last chunk has at least one zero`(row: WireRow) {
        row.check()
    }

    @Test func `T-MSG-11 a body without last chunk is not complete`() {
        var setting = ResponseSetting()
        setting.closes = true

        let outcome = setting.outcome(of: Self.head + "5\r\nhello\r\n")

        #expect(outcome.text == "hello")
        #expect(outcome.error == .closed(.inBody))
    }

    @Test(arguments: [
        "5\nhello\r\n0\r\n\r\n", "5\rhello\r\n0\r\n\r\n", "5 \nhello\r\n0\r\n\r\n", "5 \rhello\r\n0\r\n\r\n",
        "5 \r\r\nhello\r\n0\r\n\r\n", " \r\nhello\r\n0\r\n\r\n", "5\r\nhello \r\n0\r\n\r\n",
        "5 \u{B}\r\nhello\r\n0\r\n\r\n",
        "5\r \nhello\r\n0\r\n\r\n", "5\r\n hello\r\n0\r\n\r\n",
        "5 a;b\r\nhello\r\n0\r\n\r\n", "5 5;a\r\nhello\r\n0\r\n\r\n", " ;a\r\n\r\n", "5 \n;a\r\nhello\r\n0\r\n\r\n",
        "5\u{B};a\r\nhello\r\n0\r\n\r\n", "5\r\nhello\r\n0 \n\r\n", "5\r\nhello\r\n0 x\r\n\r\n",
        "5;a\nhello\r\n0\r\n\r\n", "5\r\r\nhello\r\n0\r\n\r\n",
        "5\r\nhello\n0\r\n\r\n", "5\r\nhello\r0\r\n\r\n", "5\r\nhello0\r\n\r\n", "5\r\nhelloXX0\r\n\r\n",
        "5\r\nhello!\r\n0\r\n\r\n", "5\r\nhello\r\n0\n\r\n", "5\r\nhello\r\n0\r\r\n\r\n",
    ])
    func `T-MSG-12 chunk lines and chunk ends are CR LF only`(chunks: String) {
        Self.row(chunks, .refused(.chunk)).check()
    }

    @Test(arguments: [
        row("5 \r\nhello\r\n0\r\n\r\n", .closed(200, "hello")),
        row("5\t\r\nhello\r\n0\r\n\r\n", .closed(200, "hello")),
        row("5 \t  \r\nhello\r\n0\r\n\r\n", .closed(200, "hello")),
        row("5\r\nhello\r\n0 \r\n\r\n", .closed(200, "hello")),
        row("5\r\nhello\r\n1 \r\n!\r\n0\r\n\r\n", .closed(200, "hello!")),
        row("5 \r\nhello\r\n1\r\n!\r\n0\r\nA: b\r\n\r\n", .closed(200, "hello!")),
        // Where the blanks may stand, the connection is used again.
        row("5 ;\r\nhello\r\n0\r\n\r\n", .reused(200, "hello")),
        row("5; \r\nhello\r\n0\r\n\r\n", .reused(200, "hello")),
    ])
    func `T-MSG-12 blanks behind a chunk size are read, and the connection is not used again`(row: WireRow) {
        row.check()
    }

    @Test func `T-MSG-13 blanks behind a chunk size have the limit of extensions`() {
        let most = String(repeating: " ", count: 16 << 10)

        Self.row("1\(most)\r\na\r\n0\r\n\r\n", .closed(200, "a")).check()
        Self.row("1\(most)\r\na\r\n0 \r\n\r\n", .refused(.limit(.chunkExtensionBytes))).check()
    }

    @Test(arguments: [
        row("5;\r\nhello\r\n0\r\n\r\n", .reused(200, "hello")),
        row("5;=x\r\nhello\r\n0\r\n\r\n", .reused(200, "hello")),
        row("5 ;a\r\nhello\r\n0\r\n\r\n", .reused(200, "hello")),
        row("5\t ; a=\"b\"\r\nhello\r\n0 \t;\r\n\r\n", .reused(200, "hello")),
        row("5; a = b\r\nhello\r\n0\r\n\r\n", .reused(200, "hello")),
        row("5;a\u{1F}\r\nhello\r\n0\r\n\r\n", .refused(.chunk)),
        row("5;a\u{1}\r\nhello\r\n0\r\n\r\n", .refused(.chunk)),
        row("5;a\tb\r\nhello\r\n0\r\n\r\n", .refused(.chunk)),
        row("5;a\u{7F}\r\nhello\r\n0\r\n\r\n", .refused(.chunk)),
        row("5;a=\"\r\nhello\r\n0\r\n\r\n\"\r\nhello\r\n0\r\n\r\n", .refused(.chunk)),
        row("5;a=\"b\r\nhello\r\n0\r\n\r\n", .refused(.chunk)),
        row("5;\"\r\nhello\r\n0\r\n\r\n", .refused(.chunk)),
        row("5;a=\"\\\"\r\nhello\r\n0\r\n\r\n", .refused(.chunk)),
        row("5;a\rb\r\nhello\r\n0\r\n\r\n", .refused(.chunk)),
    ])
    func `T-MSG-13 extensions are skipped, controls in them refused`(row: WireRow) {
        row.check()
    }

    @Test func `T-MSG-13 all extensions of a body have one limit`() {
        let most = String(repeating: "x", count: 8 << 10)
        let exact = Self.row("1;\(most)\r\na\r\n1;\(most)\r\nb\r\n0\r\n\r\n", .reused(200, "ab"))
        let over = Self.row("1;\(most)\r\na\r\n1;\(most)x\r\nb\r\n0\r\n\r\n", .refused(.limit(.chunkExtensionBytes)))
        let each = Self.row(
            String(repeating: "1;\(String(repeating: "x", count: 10 << 10))\r\na\r\n", count: 2),
            .refused(.limit(.chunkExtensionBytes))
        )

        let blanks = Self.row(
            "1\(String(repeating: " ", count: 8 << 10));\(most)x\r\na\r\n",
            .refused(.limit(.chunkExtensionBytes))
        )
        blanks.check()
        exact.check()
        over.check()
        each.check()
    }

    @Test func `T-MSG-14 trailers are kept apart and mean nothing for framing`() {
        let trailers = "Content-Length: 7\r\nTransfer-Encoding: gzip\r\nConnection: close\r\nSet-Cookie: a=b\r\n"

        let outcome = ResponseSetting().outcome(of: Self.head + "1\r\na\r\n0\r\n\(trailers)\r\n")

        #expect(outcome.trailers?.count == 4)
        #expect(outcome.head?.headers.count == 1)
        #expect(outcome.mayReuse)
    }

    @Test(arguments: [
        row("0\r\nA: b\n\r\n", .refused(.header)),
        row("0\r\nA: b\r\n\n", .refused(.header)),
        row("0\r\n\n", .refused(.header)),
        row("0\r\nA\r\n\r\n", .refused(.header)),
        row("0\r\nA : b\r\n\r\n", .refused(.header)),
        row("0\r\n A: b\r\n\r\n", .refused(.header)),
        row("0\r\nA: b\n c\r\n\r\n", .refused(.header)),
        row("0\r\n \r\n\r\n", .refused(.header)),
        row("0\r\nA: b\rc\r\n\r\n", .refused(.header)),
        row("0\r\nA: \0\r\n\r\n", .refused(.header)),
        row("0\r\nHTTP/1.1 200 OK\r\n\r\n", .refused(.header)),
    ])
    func `T-MSG-14 trailers obey the rules of fields, with strict line ends`(row: WireRow) {
        row.check()
    }

    @Test func `T-MSG-14 trailers may be folded, and the connection is not used again`() {
        let outcome = ResponseSetting().outcome(of: Self.head + "1\r\na\r\n0\r\nA: b\r\n c\r\nD: e\r\n\r\n")

        #expect(outcome.trailers == ["A: b c", "D: e"])
        #expect(outcome.text == "a" && outcome.error == nil && !outcome.framedExactly)
    }

    @Test(arguments: [
        "Content-Length: 7\r\n ", "Transfer-Encoding: chunked\r\n\t, gzip", "A: b\r\ncontent-length:\r\n 7",
    ])
    func `T-MSG-14 a trailer with a framing field's name is not folded`(field: String) {
        WireRow(Self.head + "0\r\n\(field)\r\n\r\n", .refused(.header)).check()
    }

    @Test func `T-MSG-14 trailers have limits of their own`() {
        var small = ResponseSetting()
        small.limits.trailerFields = 3
        small.limits.trailerBytes = 100
        let field = "A: b\r\n"
        let fits = Self.head + "0\r\n" + String(repeating: field, count: 3) + "\r\n"
        let long = { Self.head + "0\r\nA: \(String(repeating: "x", count: $0))\r\n\r\n" }

        #expect(small.outcome(of: fits).trailers?.count == 3)
        #expect(
            small.outcome(of: Self.head + "0\r\n" + String(repeating: field, count: 4) + "\r\n").error
                == .limit(.trailerFields)
        )
        #expect(small.outcome(of: long(93)).error == nil)
        #expect(small.outcome(of: long(94)).error == .limit(.trailerBytes))
        #expect(
            ResponseSetting().outcome(of: Self.head + "0\r\n" + String(repeating: field, count: 101) + "\r\n").error
                == .limit(.trailerFields)
        )
    }

    @Test func `T-MSG-14 trailers without final empty line are not complete`() {
        var setting = ResponseSetting()
        setting.closes = true

        #expect(setting.outcome(of: Self.head + "0\r\nA: b\r\n").error == .closed(.inBody))
        #expect(setting.outcome(of: Self.head + "0\r\n").error == .closed(.inBody))
    }

    @Test func `T-MSG-15 a chunked body cut anywhere is lost`() {
        let wire = Array((Self.head + "5;a=b\r\nhello\r\n01\r\n!\r\n0\r\nDigest: x\r\n\r\n").utf8)
        var setting = ResponseSetting()
        setting.closes = true

        for length in Self.head.utf8.count..<wire.count {
            let outcome = setting.outcome(of: Array(wire[..<length]))
            #expect(outcome.error == .closed(.inBody), "cut at \(length)")
            #expect(!outcome.framedExactly)
        }
        #expect(setting.outcome(of: wire).error == nil)
    }

    @Test func `a body slice lies in the input and nothing is copied`() throws {
        var decoder = ResponseDecoder(method: "GET")
        let wire = Array((Self.head + "5\r\nhello\r\n0\r\n\r\n").utf8)

        try wire.withUnsafeBytes { bytes in
            let head = try decoder.decode(bytes)
            let rest = UnsafeRawBufferPointer(rebasing: bytes[head.consumed...])
            guard case .body(let slice) = try decoder.decode(rest).event else {
                Issue.record("no body")
                return
            }
            #expect(slice.baseAddress == bytes.baseAddress.map { $0 + head.consumed + 3 })
        }
    }
}
