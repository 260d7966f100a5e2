import AFNetworkingTesting
import Testing

@Suite struct WebSocketHandshakeTests {
    private func serve(_ reply: ServerReply) throws -> TestServer {
        let server = try TestServer()
        server.route("*", "/", reply)
        return server
    }

    private func serve(_ options: ServerWebSocketOptions = ServerWebSocketOptions()) throws -> TestServer {
        try serve(.webSocket(options) { try $0.close() })
    }

    @Test func `the server accepts with the key of RFC 6455, and nothing is left out`() throws {
        let server = try serve()
        defer { server.stop() }
        let client = try WebSocketClient(server, "/")

        #expect(
            client.head == "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"
        )
        #expect(try client.next() == .close(1000))
        try client.send(0x88, [0x03, 0xE8])
        #expect(try client.rest().isEmpty)
        #expect(try server.waitForEnd(ofConnection: 1) == .serverClosed)
        #expect(server.requests.map(\.target) == ["/"])
    }

    @Test func `names and tokens may be in any case, and in lists`() throws {
        let server = try serve()
        defer { server.stop() }
        let raw = try RawClient(server)
        try raw.send(
            "GET / HTTP/1.1\r\nHost: x\r\nupgrade: h2c, WebSocket\r\nconnection: keep-alive, uPGRADE\r\n"
                + "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        #expect(try raw.readHead().hasPrefix("HTTP/1.1 101 "))
    }

    static let wrong: [(name: String, value: String?, status: Int)] = [
        ("Upgrade", nil, 426), ("Upgrade", "h2c", 426), ("Upgrade", "websockets", 426),
        ("Sec-WebSocket-Version", nil, 426), ("Sec-WebSocket-Version", "12", 426),
        ("Sec-WebSocket-Version", "13, 8", 426),
        ("Connection", nil, 400), ("Connection", "keep-alive", 400),
        ("Sec-WebSocket-Key", nil, 400), ("Sec-WebSocket-Key", "", 400), ("Sec-WebSocket-Key", "AAAA", 400),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ", 400), ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZSE=", 400),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", 400),
    ]

    @Test(arguments: wrong)
    func `a wrong request is refused`(name: String, value: String?, status: Int) throws {
        let server = try serve()
        defer { server.stop() }
        var fields = WebSocketClient.upgrade.filter { !$0.hasPrefix(name + ":") }
        if let value { fields.append("\(name): \(value)") }
        let raw = try RawClient(server)
        try raw.send("GET / HTTP/1.1\r\n" + fields.joined(separator: "\r\n") + "\r\n\r\n")

        let head = try raw.readHead()

        #expect(head.hasPrefix("HTTP/1.1 \(status) "))
        #expect(head.contains("\r\nSec-WebSocket-Version: 13\r\n") == (status == 426))
        #expect(head.contains("\r\nUpgrade: websocket\r\n") == (status == 426))
    }

    @Test(arguments: ["POST / HTTP/1.1", "GET / HTTP/1.0"])
    func `another method, or an older version, is refused`(line: String) throws {
        let server = try serve()
        defer { server.stop() }
        let raw = try RawClient(server)
        try raw.send(([line] + WebSocketClient.upgrade + ["Content-Length: 0"]).joined(separator: "\r\n") + "\r\n\r\n")
        #expect(try raw.readHead().hasPrefix("HTTP/1.1 400 "))
    }

    @Test(arguments: [("b", "b"), ("x, b ,a", "b"), ("a,b", "a"), ("x", nil), ("A", nil)])
    func `the server chooses the first subprotocol of the client that it speaks`(offer: String, chosen: String?) throws
    {
        let server = try TestServer()
        server.route(
            "GET",
            "/",
            .webSocket(ServerWebSocketOptions(subprotocols: ["a", "b"])) { socket in
                try socket.send(text: socket.subprotocol ?? "none")
            }
        )
        let client = try WebSocketClient(server, "/", "Sec-WebSocket-Protocol: \(offer)")

        #expect(client["Sec-WebSocket-Protocol"] == chosen)
        #expect(try client.next().text == chosen ?? "none")
    }

    @Test func `fields of the caller replace those of the server, or are added`() throws {
        let reply = ServerReply.webSocket { _ in }.header("X-A", "1").header("sec-websocket-accept", "no")
        let server = try serve(reply)
        defer { server.stop() }

        #expect(
            try WebSocketClient(server, "/").head == "HTTP/1.1 101 Switching Protocols\r\nX-A: 1\r\n"
                + "sec-websocket-accept: no\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
        )
    }

    @Test func `bytes behind the head come with it`() throws {
        let surplus = ServerFrame(.text, "early").bytes
        let server = try serve(.webSocket(ServerWebSocketOptions(surplus: surplus)) { try $0.send(text: "late") })
        defer { server.stop() }
        let raw = try RawClient(server)
        try raw.send("GET / HTTP/1.1\r\n" + WebSocketClient.upgrade.joined(separator: "\r\n") + "\r\n\r\n")
        let head =
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"

        // A read gets at least what one write gave.
        #expect(try raw.read().starts(with: Array(head.utf8) + surplus))
    }

    @Test func `the server takes frames that arrive with the request`() throws {
        let server = try TestServer()
        server.install(.webSockets)
        let client = try WebSocketClient(server, "/ws/echo", early: WebSocketClient.frame(0x81, Array("hi".utf8)))
        #expect(try client.next() == .init(0x81, "hi"))
    }

    @Test func `another status goes on with HTTP`() throws {
        let server = try serve(.webSocket { _ in }.status(200))
        defer { server.stop() }
        let client = try WebSocketClient(server, "/")
        #expect(client.head.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(client["Sec-WebSocket-Accept"] != nil && client["Content-Length"] == "0")

        try client.raw.send("GET /other HTTP/1.1\r\nHost: x\r\n\r\n")

        #expect(try client.raw.readHead().hasPrefix("HTTP/1.1 404 "))
    }

    @Test func `the answer waits for its delay, and for its signal`() throws {
        let start = ContinuousClock.now
        let slow = try serve(.webSocket { _ in }.delayed(by: .milliseconds(30)))
        defer { slow.stop() }
        #expect(try WebSocketClient(slow, "/").head.hasPrefix("HTTP/1.1 101 "))
        #expect(ContinuousClock.now - start >= .milliseconds(30))

        let held = try serve(.webSocket { _ in }.held(until: "go"))
        defer { held.stop() }
        let raw = try RawClient(held)
        try raw.send("GET / HTTP/1.1\r\n" + WebSocketClient.upgrade.joined(separator: "\r\n") + "\r\n\r\n")
        try held.waitForRequests(1)
        #expect(raw.isSilent)
        held.signal("go")
        #expect(try raw.readHead().hasPrefix("HTTP/1.1 101 "))
    }

    @Test func `through TLS it is the same`() throws {
        let authority = try CertificateAuthority()
        let server = try TestServer(tls: ServerTLS(authority.issue(for: "localhost")))
        server.route("GET", "/", .webSocket { try $0.send(text: "hi") })
        let client = try TLSClient(server)
        try client.handshake()
        try client.send("GET / HTTP/1.1\r\n" + WebSocketClient.upgrade.joined(separator: "\r\n") + "\r\n\r\n")
        #expect(try client.readToEnd().hasSuffix("\r\n\r\n\u{FFFD}\u{2}hi"))
    }
}
