import AFNetworkingTesting
import Glibc
import Testing

@Suite struct BehaviourTests {
    private static let request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

    /// A server with one reply, and a client that has sent the request for it.
    private func ask(_ replies: ServerReply...) throws -> (TestServer, RawClient) {
        let server = try TestServer()
        for reply in replies { server.enqueue(reply) }
        let client = try RawClient(server)
        try client.send(Self.request)
        return (server, client)
    }

    @Test func `a delayed reply takes at least that long`() throws {
        let start = ContinuousClock.now
        let (server, client) = try ask(.text("x").delayed(by: .milliseconds(30)))
        defer { server.stop() }

        _ = try client.readHead()

        #expect(ContinuousClock.now - start >= .milliseconds(30))
    }

    @Test func `the server sends a delayed body after its head`() throws {
        let start = ContinuousClock.now
        let (server, client) = try ask(.text("x").delayingBody(by: .milliseconds(30)))
        defer { server.stop() }

        _ = try client.readHead()
        #expect(try client.read(1) == "x")

        #expect(ContinuousClock.now - start >= .milliseconds(30))
    }

    @Test func `a held reply waits for its signal`() throws {
        let (server, client) = try ask(.text("x").held(until: "go"), .text("y").held(until: "go"))
        defer { server.stop() }
        try server.waitForRequests(1)
        #expect(client.isSilent)

        server.signal("go")

        #expect(try client.readHead().hasPrefix("HTTP/1.1 200"))
        #expect(try client.read(1) == "x")
        try client.send(Self.request)
        #expect(try client.readHead().hasPrefix("HTTP/1.1 200"))
    }

    @Test func `a dribbled reply arrives whole and slowly`() throws {
        let start = ContinuousClock.now
        let (server, client) = try ask(.raw("0123456789").dribbling(3, every: .milliseconds(5)).keepAlive(false))
        defer { server.stop() }

        #expect(try client.readToEnd() == "0123456789")

        #expect(ContinuousClock.now - start >= .milliseconds(20))
        #expect(server.connections[0].bytesSent == 10)
    }

    @Test func `a stalled reply sends nothing more until the client closes`() throws {
        let (server, client) = try ask(.text("0123456789").stalling(after: 4))
        defer { server.stop() }

        #expect(try client.readHead().contains("Content-Length: 10"))
        #expect(try client.read(4) == "0123")
        #expect(client.isSilent)
        #expect(server.openConnections == 1)
        client.close()

        #expect(try server.waitForEnd(ofConnection: 1) == .clientClosed)
    }

    @Test(arguments: 0...6)
    func `a reply is cut by its content, whatever stands around that`(count: Int) throws {
        let (server, client) = try ask(.text("abcdef").chunked(3).closing(after: count, of: .content))
        defer { server.stop() }

        let wire = [
            "3\r\n", "3\r\na", "3\r\nab", "3\r\nabc", "3\r\nabc\r\n3\r\nd", "3\r\nabc\r\n3\r\nde",
            "3\r\nabc\r\n3\r\ndef",
        ]
        _ = try client.readHead()
        #expect(try client.readToEnd() == wire[count])
    }

    @Test func `a reply can stall in the middle of its head`() throws {
        let (server, client) = try ask(.text("x").stalling(after: 8, of: .message))
        defer { server.stop() }

        #expect(try client.read(8) == "HTTP/1.1")
        #expect(client.isSilent)
        client.reset()

        #expect(try server.waitForEnd(ofConnection: 1) == .clientReset)
    }

    @Test(arguments: [0, 5, 10, 1_000]) func `a reset reply ends in ECONNRESET`(count: Int) throws {
        let (server, client) = try ask(.text("0123456789").resetting(after: count))
        defer { server.stop() }

        #expect(try server.waitForEnd(ofConnection: 1) == .serverReset)

        #expect(throws: RawClient.Failure(call: "recv", code: ECONNRESET)) { try client.readToEnd() }
        #expect(server.connections[0].bytesSent >= count || count > 10)
    }

    @Test(arguments: [(0, ""), (5, "01234"), (10, "0123456789"), (99, "0123456789")])
    func `a closing reply is truncated but not reset`(count: Int, body: String) throws {
        let (server, client) = try ask(.text("0123456789").closing(after: count))
        defer { server.stop() }

        let head = try client.readHead()
        #expect(head.contains("Content-Length: 10"))
        #expect(!head.contains("Connection"))
        #expect(try client.readToEnd() == body)

        #expect(try server.waitForEnd(ofConnection: 1) == .serverClosed)
    }

    @Test func `the server can close without sending a byte`() throws {
        let (server, client) = try ask(.text("x").closing(after: 0, of: .message))
        defer { server.stop() }

        #expect(try client.readToEnd() == "")
    }

    @Test func `a cut counts the bytes of the chunk framing`() throws {
        let (server, client) = try ask(.text("abcdef").chunked(3).closing(after: 7))
        defer { server.stop() }

        #expect(try client.readToEnd().hasSuffix("\r\n\r\n3\r\nabc\r"))
    }

    @Test func `bytes that arrive after the server closed are dropped and cause no reset`() throws {
        let (server, client) = try ask(.text("x").keepAlive(false))
        defer { server.stop() }
        #expect(try client.readToEnd().hasSuffix("x"))

        for _ in 0..<50 { try client.send(Self.request) }

        #expect(try client.readToEnd() == "")
        #expect(server.requests.count == 1)
    }

    @Test func `a half-closed connection still receives`() throws {
        let (server, client) = try ask(.text("x").halfClosing())
        defer { server.stop() }
        #expect(try client.readToEnd().hasSuffix("\r\n\r\nx"))

        try client.send("POST /late HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok")
        client.close()

        #expect(try server.waitForEnd(ofConnection: 1) == .clientClosed)
        #expect(server.requests.map(\.target) == ["/", "/late"])
        #expect(server.requests.last?.bodyText == "ok")
    }

    @Test func `interim responses come first`() throws {
        let (server, client) = try ask(.text("x").interim(103, ["Link": "</a>"]).interim(199))
        defer { server.stop() }

        #expect(try client.readHead() == "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
        #expect(try client.readHead() == "HTTP/1.1 199 \r\n\r\n")
        #expect(try client.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
    }

    @Test func `keepAlive overrides what the client wants`() throws {
        let (server, client) = try ask(.text("x").keepAlive(false))
        defer { server.stop() }
        #expect(try client.readToEnd().contains("\r\nConnection: close\r\n"))
        server.enqueue(.text("y").keepAlive(true), .text("z"))
        let other = try RawClient(server)

        try other.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" + Self.request)

        #expect(!(try other.readHead()).contains("Connection"))
        #expect(try other.read(1) == "y")
        #expect(try other.readHead().hasPrefix("HTTP/1.1 200"))
    }

    // MARK: - Early answers

    private static let upload = "POST /up HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nabc"

    @Test func `an early answer does not wait for the body and closes the connection`() throws {
        let server = try TestServer()
        server.route("POST", "/up", .status(413).withoutReadingBody())
        let client = try RawClient(server)

        try client.send(Self.upload)

        let reply = try client.readToEnd()
        #expect(reply.hasPrefix("HTTP/1.1 413 Content Too Large\r\n"))
        #expect(reply.contains("\r\nConnection: close\r\n"))
        let request = try #require(server.requests.first)
        #expect(!request.isComplete)
        #expect(request.body.isEmpty)
    }

    @Test func `an early answer with keepAlive discards the rest of the body`() throws {
        let server = try TestServer()
        server.route("POST", "/up", answering: .head) { request in
            .text("\(request.isComplete)").withoutReadingBody().keepAlive(true)
        }
        server.route("GET", "/") { _ in .text("next") }
        let client = try RawClient(server)

        try client.send(Self.upload)
        _ = try client.readHead()
        #expect(try client.read(5) == "false")
        try client.send("def" + Self.request)

        #expect(try client.readHead().hasPrefix("HTTP/1.1 200"))
        #expect(try client.read(4) == "next")
        #expect(server.requests.map(\.target) == ["/up", "/"])
    }

    @Test func `a handler that answers at the head may still have the body read`() throws {
        let server = try TestServer()
        server.route("POST", "/up", answering: .head) { .text("\($0.bodyByteCount)") }
        let client = try RawClient(server)

        try client.send(Self.upload)
        try client.send("def")

        _ = try client.readHead()
        #expect(try client.read(1) == "0")
        #expect(server.requests.map(\.bodyText) == ["abcdef"])
    }
}
