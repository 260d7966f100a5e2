import AFWire
import Testing

/// Where a response ends, T-MSG-01 to 09 and 16 to 18.
@Suite struct FramingTests {
    private static let ok = "HTTP/1.1 200 OK\r\n"

    @Test(arguments: [
        WireRow(ok + "Content-Length: 5\r\n\r\nhello", .reused(200, "hello")),
        WireRow(ok + "Content-Length: 5\r\n\r\nhelloX", .closed(200, "hello")),
        WireRow(ok + "Content-Length: 0\r\n\r\n", .reused(200, "")),
        WireRow(ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", .reused(200, "hello")),
        WireRow(ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", .reused(200, "")),
    ])
    func `a body ends where its one framing says`(row: WireRow) {
        row.check()
    }

    @Test(arguments: [
        WireRow(
            ok + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .closed(200, "hello")
        ),
        WireRow(
            ok + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .closed(200, "hello")
        ),
        WireRow(
            ok + "Transfer-Encoding: chunked\r\nContent-Length: 99\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            .closed(200, "hello")
        ),
        WireRow(ok + "Content-Length: 5\r\nTransfer-Encoding: gzip\r\n\r\nhello", .refused(.framing)),
        WireRow(ok + "Content-Length: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", .refused(.framing)),
    ])
    func `T-MSG-01 chunked overrides a length and forbids reuse`(row: WireRow) {
        row.check()
    }

    @Test func `T-MSG-01 a length that Transfer-Encoding overrides is not announced`() {
        let wire = Self.ok + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"

        let outcome = ResponseSetting().outcome(of: wire)

        #expect(outcome.head?.framing == .chunked)
        #expect(outcome.head?.contentLength == nil)
    }

    @Test(arguments: [
        WireRow(ok + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", .closed(200, "hello")),
        WireRow(ok + "Content-Length: 5\r\nContent-Length: 05\r\n\r\nhello", .closed(200, "hello")),
        WireRow(ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", .refused(.framing)),
        WireRow(ok + "Content-Length: 5, 5\r\n\r\nhello", .closed(200, "hello")),
        WireRow(ok + "Content-Length: 5\t,\t5 , 5\r\n\r\nhello", .closed(200, "hello")),
        WireRow(ok + "Content-Length: 5,6\r\n\r\nhello!", .refused(.framing)),
        WireRow(ok + "Content-Length: 5,\r\n\r\nhello", .refused(.framing)),
        WireRow(ok + "Content-Length: ,5\r\n\r\nhello", .refused(.framing)),
        WireRow(ok + "Content-length: 5\r\nCONTENT-LENGTH: 5\r\n\r\nhello", .closed(200, "hello")),
        WireRow(ok + "Content-length: 5\r\nCONTENT-LENGTH: 4\r\n\r\nhello", .refused(.framing)),
    ])
    func `T-MSG-02 equal lengths are one length, different ones none`(row: WireRow) {
        row.check()
    }

    @Test(arguments: [
        "-1", "+5", "-0", " 5 5", "5;", "0x5", "5_0", "1e3", "", "5.0", "\u{FF15}", "five", "5a", "a5",
    ])
    func `T-MSG-03 a length that is not digits is refused`(value: String) {
        WireRow(Self.ok + "Content-Length: \(value)\r\n\r\nhello", .refused(.framing)).check()
    }

    @Test(arguments: ["\r5", "5\r", "5\0", "\u{B}5"])
    func `T-MSG-03 a length with control characters is refused`(value: String) {
        WireRow(Self.ok + "Content-Length: \(value)\r\n\r\nhello", .refused(.header)).check()
    }

    @Test func `T-MSG-03 a length is accepted exactly if it is digits within white space`() {
        var random = SeededGenerator(seed: 3)
        let alphabet = Array("0123456789  \t+-,;x")
        let whole = Delivery(description: "whole", cuts: [])

        for _ in 0..<20_000 {
            let value = String(
                (0..<Int.random(in: 0...5, using: &random)).map { _ in alphabet.randomElement(using: &random)! }
            )
            let elements = value.split(separator: ",", omittingEmptySubsequences: false).map(Self.number)
            let isGood = elements.allSatisfy { $0 != nil && $0 == elements[0] }
            let bytes = Array((Self.ok + "Content-Length:\(value)\r\n\r\n").utf8)

            let outcome = ResponseSetting().outcome(of: bytes, whole)

            #expect(outcome.error == (isGood ? nil : .framing), "\(value.debugDescription)")
            #expect(outcome.head?.contentLength.map { Int($0) } == (isGood ? elements[0] : nil))
        }
    }

    /// The oracle: an independent reading of `^[0-9]+$` within SP and HTAB.
    private static func number(_ text: Substring) -> Int? {
        var text = text
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        guard !text.isEmpty, text.allSatisfy({ "0123456789".contains($0) }) else { return nil }
        return Int(text)
    }

    @Test func `T-MSG-04 a length past 63 bits is refused without a trap`() {
        let refused = [
            "9223372036854775808", "18446744073709551615", "18446744073709551616", "18446744073709551621",
            "99999999999999999999", String(repeating: "9", count: 400),
        ]

        for value in refused { WireRow(Self.ok + "Content-Length: \(value)\r\n\r\n", .refused(.framing)).check() }
        let most = ResponseSetting().outcome(of: Self.ok + "Content-Length: 9223372036854775807\r\n\r\nhello")
        let padded = ResponseSetting().outcome(
            of: Self.ok + "Content-Length: \(String(repeating: "0", count: 400))5\r\n\r\nhello"
        )

        #expect(most.head?.framing == .length(9_223_372_036_854_775_807))
        #expect(most.error == nil)
        #expect(padded.head?.framing == .length(5))
    }

    @Test func `T-MSG-05 an enormous announced length costs nothing and is missed at the end`() {
        var setting = ResponseSetting()
        setting.closes = true

        let outcome = setting.outcome(of: Self.ok + "Content-Length: 9223372036854775807\r\n\r\n0123456789")

        #expect(outcome.text == "0123456789")
        #expect(outcome.error == .closed(.inBody))
    }

    @Test(arguments: [
        WireRow(
            ok + "Content-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
            .closed(200, "hello")
        ),
        WireRow(ok + "Content-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", .closed(200, "")),
        WireRow(ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n\r\n", .closed(200, "")),
    ])
    func `T-MSG-07 bytes after the end are never read and forbid reuse`(row: WireRow) {
        row.check()
    }

    @Test func `T-MSG-07 a finished decoder refuses further bytes`() throws {
        var decoder = ResponseDecoder(method: "GET")
        let wire = Array((Self.ok + "Content-Length: 0\r\n\r\n").utf8)
        _ = try wire.withUnsafeBytes { try decoder.decode($0).consumed }
        _ = try decoder.decode(UnsafeRawBufferPointer(start: nil, count: 0))

        #expect(decoder.framedExactly)
        #expect(throws: HTTP1Error.self) { _ = try wire.withUnsafeBytes { try decoder.decode($0).consumed } }
        #expect(!decoder.framedExactly)
    }

    @Test(arguments: ["chunked", "Chunked", "CHUNKED", " chunked", "chunked\t ", "\tcHuNkEd"])
    func `T-MSG-08 chunked is one token in any case`(coding: String) {
        let wire = Self.ok + "Transfer-Encoding:\(coding)\r\n\r\n1\r\na\r\n0\r\n\r\n"
        WireRow(wire, .reused(200, "a")).check()
    }

    @Test(arguments: [
        "", " ", ",", "chunked,", ",chunked", "chunked,,chunked", "chunked,identity",
        "chunked, chunked,", "chunked, chunked, gzip", "chunked; chunked", "chunked, chunked;q=1",
        "chunked, \"chunked\"",
        "identity, chunked", "identity",
        "gzip", "gzip, chunked", "chunked, gzip", "deflate", "compress", "x-gzip", "xchunked", "chunkedx",
        "chunkedchunked", "chunk ed", "chunk", "\"chunked\"", "'chunked'", "chunked;q=1", "chunked; a", ";chunked",
        "chunked=1", "chun\u{212A}ed", "chunked\u{A0}", "\u{A0}chunked", "cow", "chunked chunked", "chunked/1",
        "trailers", "trailers, chunked", "chunked\\", "c\thunked",
    ])
    func `T-MSG-08 any other transfer coding is refused`(coding: String) {
        WireRow(Self.ok + "Transfer-Encoding: \(coding)\r\n\r\n0\r\n\r\n", .refused(.framing)).check()
    }

    @Test(arguments: [
        WireRow(
            ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding:\r\n\r\n0\r\n\r\n",
            .refused(.framing)
        ),
        WireRow(
            ok + "Transfer-Encoding: chunked\r\nTransfer-encoding: cow\r\n\r\n0\r\n\r\n",
            .refused(.framing)
        ),
        WireRow(
            ok + "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            .refused(.framing)
        ),
        WireRow(ok + "Transfer-Encoding: \u{B}chunked\r\n\r\n0\r\n\r\n", .refused(.header)),
        WireRow(ok + "Transfer-Encoding: chunked\u{B}\r\n\r\n0\r\n\r\n", .refused(.header)),
        WireRow(ok + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", .refused(.header)),
    ])
    func `T-MSG-08 a second transfer coding or a broken field is refused`(row: WireRow) {
        row.check()
    }

    @Test(arguments: [
        "Transfer-Encoding: chunked, chunked", "Transfer-Encoding: Chunked\t,CHUNKED",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 1\r\ntransfer-encoding: chunked",
    ])
    func `T-MSG-08 chunked said twice is applied once, and the connection is not used again`(fields: String) {
        WireRow(Self.ok + "\(fields)\r\n\r\n1\r\na\r\n0\r\n\r\n", .closed(200, "a")).check()
        // What is coded twice is not taken for what was coded.
        let twice = "B\r\n1\r\na\r\n0\r\n\r\n\r\n0\r\n\r\n"
        WireRow(Self.ok + "\(fields)\r\n\r\n\(twice)", .closed(200, "1\r\na\r\n0\r\n\r\n")).check()
        WireRow("HTTP/1.1 204 X\r\n\(fields)\r\n\r\n", .closed(204, "")).check()
        WireRow("HTTP/1.1 304 X\r\n\(fields)\r\n\r\n", .closed(304, "")).check()
        WireRow(Self.ok + "\(fields)\r\n\r\n", .closed(200, "")).check(ResponseSetting(method: "HEAD"))
    }

    @Test func `T-MSG-09 chunked in HTTP 1.0 is read and forbids reuse`() {
        WireRow(
            "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
            .closed(200, "a")
        ).check()
    }

    @Test(
        arguments: [100, 102, 103, 199, 204, 304],
        [
            "", "Content-Length: 5\r\n", "Content-Length: 0\r\n", "Transfer-Encoding: chunked\r\n",
        ]
    )
    func `T-MSG-16 a status without body has none whatever its fields say`(status: Int, field: String) {
        let bodiless = "HTTP/1.1 \(status) X\r\n\(field)\r\n"
        let setting = ResponseSetting()

        guard status >= 200 else {
            let outcome = setting.outcome(of: bodiless + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            #expect(outcome.interim.map(\.framing) == [.none])
            #expect(outcome.text == "ok")
            return
        }
        let alone = setting.outcome(of: bodiless)
        let followed = setting.outcome(of: bodiless + "hello")

        #expect(alone.head?.framing == BodyFraming.none)
        #expect(alone.trailers == [])
        #expect(alone.body.isEmpty && followed.body.isEmpty)
        #expect(followed.surplus == 5 && !followed.mayReuse)
        // Only a 304 may announce a length it does not send.
        let isHonest = status == 304 || field.isEmpty || field.hasSuffix(" 0\r\n")
        #expect(alone.mayReuse == isHonest)
    }

    @Test func `T-MSG-17 the answer to HEAD has no body and exposes its length`() {
        let head = Self.ok + "Content-Length: 5\r\n\r\n"
        let setting = ResponseSetting(method: "HEAD")

        let alone = setting.outcome(of: head)
        let followed = setting.outcome(of: head + "hello")
        let chunked = setting.outcome(of: Self.ok + "Transfer-Encoding: chunked\r\n\r\n")

        #expect(alone.head?.framing == BodyFraming.none)
        #expect(alone.head?.contentLength == 5)
        #expect(alone.mayReuse && chunked.mayReuse)
        #expect(followed.body.isEmpty && followed.surplus == 5 && !followed.mayReuse)
    }

    @Test(arguments: [
        "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", "Content-Length: nonsense\r\n",
        "Transfer-Encoding: gzip\r\n", "Content-Length: 5\r\nContent-Length: 6\r\n",
    ])
    func `T-MSG-18 a tunnel ignores framing fields`(field: String) {
        for interim in ["", "HTTP/1.1 103 Early Hints\r\n\r\n"] {
            let response = "\(interim)HTTP/1.1 200 OK\r\n\(field)\r\ntunnel"
            let outcome = ResponseSetting(method: "CONNECT").outcome(of: response)

            #expect(outcome.head?.framing == BodyFraming.none)
            #expect(outcome.head?.contentLength == nil)
            #expect(outcome.surplus == 6 && outcome.body.isEmpty)
        }
    }

    @Test func `T-MSG-18 a refused tunnel is framed like any response`() {
        let setting = ResponseSetting(method: "CONNECT")
        let refusal = "HTTP/1.1 407 No\r\nContent-Length: 2\r\n\r\nno"

        #expect(setting.outcome(of: refusal).text == "no")
        #expect(setting.outcome(of: "HTTP/1.1 407 No\r\nContent-Length: x\r\n\r\n").error == .framing)
    }
}
