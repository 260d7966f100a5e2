import AFNetworkingTesting
import Testing

@Suite struct ReplyTests {
    /// The whole answer to one GET on a connection that then closes.
    private func answer(_ reply: ServerReply) throws -> String {
        let server = try TestServer()
        server.enqueue(reply)
        let client = try RawClient(server)
        try client.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        return try client.readToEnd()
    }

    @Test func `header fields keep their order and duplicates`() throws {
        let reply = ServerReply.status(207, reason: "Odd").headers(["B": "1", "a": "2"]).header("B", "3")

        #expect(
            try answer(reply) == "HTTP/1.1 207 Odd\r\nB: 1\r\na: 2\r\nB: 3\r\nContent-Length: 0\r\n"
                + "Connection: close\r\n\r\n"
        )
    }

    @Test func `a field that a response has only once replaces the previous one, others are added`() throws {
        let text = try answer(
            .text("x").header("content-type", "text/html").header("ETag", "1").header("etag", "2")
                .header("Set-Cookie", "a=1").header("Set-Cookie", "b=2").header("Vary", "A").header("Vary", "B")
        )

        #expect(
            text == "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\netag: 2\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n"
                + "Vary: A\r\nVary: B\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx"
        )
        #expect(
            try answer(.text("x").headers(["Content-Type": "a/b"])).contains(
                "plain; charset=utf-8\r\nContent-Type: a/b"
            )
        )
    }

    @Test func `a framing field of the test is sent as written`() throws {
        let text = try answer(.text("four").header("Content-Length", "+99"))

        #expect(text.contains("\r\nContent-Length: +99\r\n"))
        #expect(!text.contains("Content-Length: 4"))
        #expect(text.hasSuffix("\r\n\r\nfour"))
    }

    @Test func `chunks have the sizes asked for and the last size repeats`() throws {
        let text = try answer(.text("abcdefgh").chunked(1, 3, trailers: ["X-A": "b"]))

        #expect(text.contains("\r\nTransfer-Encoding: chunked\r\n"))
        #expect(text.hasSuffix("\r\n\r\n1\r\na\r\n3\r\nbcd\r\n3\r\nefg\r\n1\r\nh\r\n0\r\nX-A: b\r\n\r\n"))
    }

    @Test func `a close-delimited body has no length and ends with the connection`() throws {
        let text = try answer(.text("hello").closeDelimited())

        #expect(!text.contains("Content-Length"))
        #expect(!text.contains("Transfer-Encoding"))
        #expect(text.hasSuffix("\r\nConnection: close\r\n\r\nhello"))
    }

    @Test func `a value is encoded as JSON with sorted keys`() throws {
        let text = try answer(.json(encoding: ["b": 2, "a": 1]))

        #expect(text.contains("\r\nContent-Type: application/json\r\n"))
        #expect(text.hasSuffix("\r\n\r\n{\"a\":1,\"b\":2}"))
    }

    @Test(arguments: [1, 3, 64 * 1024, 100_000]) func `a pattern repeats without a seam`(length: Int) throws {
        let pattern = (0..<length).map { UInt8(truncatingIfNeeded: $0 % 251) }
        let count = 200_001
        let expected = (0..<count).map { pattern[$0 % length] }

        for reply in [ServerReply.stream(.repeating(bytes: pattern, count: count)).closeDelimited()] {
            let server = try TestServer()
            server.enqueue(reply)
            let client = try RawClient(server)
            try client.send("GET / HTTP/1.0\r\n\r\n")
            _ = try client.readHead()
            var received: [UInt8] = []
            while case let more = try client.read(), !more.isEmpty { received += more }
            #expect(received == expected)
        }
    }

    @Test func `a body of two hundred megabytes is not held in memory`() throws {
        let count = 200_000_000
        let server = try TestServer()
        server.route("GET", "/", .stream(.repeating("0123456789", count: count)))
        let client = try RawClient(server)

        try client.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")

        #expect(try client.readHead().contains("\r\nContent-Length: \(count)\r\n"))
        #expect(try client.countToEnd() == count)
    }

    @Test func `a generated body of unknown length is chunked`() throws {
        let text = try answer(.stream(.generated { offset in offset < 6 ? [65, 66] : [] }))

        #expect(text.hasSuffix("\r\n\r\n2\r\nAB\r\n2\r\nAB\r\n2\r\nAB\r\n0\r\n\r\n"))
    }

    @Test func `a generated body is cut at its count and may end early`() throws {
        let tooLong = try answer(.stream(.generated(count: 3) { _ in [65, 66] }))
        let tooShort = try answer(.stream(.generated(count: 5) { $0 < 2 ? [65, 66] : [] }).keepAlive(true))

        #expect(tooLong.hasSuffix("\r\n\r\nABA"))
        #expect(tooShort.contains("\r\nContent-Length: 5\r\n"))
        #expect(tooShort.hasSuffix("\r\n\r\nAB"))
    }

    @Test func `raw bytes are sent unchanged and the connection stays open`() throws {
        let server = try TestServer()
        server.enqueue(.raw("HTTP/1.1 200 \r\nX:y\nContent-Length:0\r\n\r\n"), .raw("ICY"))
        let client = try RawClient(server)

        try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n")

        #expect(try client.read(42) == "HTTP/1.1 200 \r\nX:y\nContent-Length:0\r\n\r\nICY")
        #expect(client.isSilent)
    }

    @Test func `lookups of header fields ignore the case of ASCII letters only`() {
        var fields: HeaderFields = ["Content-Type": "a", "KEY": "b", "content-type": "c"]

        #expect(fields["CONTENT-TYPE"] == "a")
        #expect(fields.values(of: "content-Type") == ["a", "c"])
        #expect(fields["\u{212A}EY"] == nil)
        fields["content-TYPE"] = "d"
        #expect(fields.fields.map(\.name) == ["KEY", "content-TYPE"])
    }
}
