import AFNetworkingTesting
import Foundation
import Testing

@Suite struct RecordingTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
    }

    @Test func `a request is recorded exactly as sent`() throws {
        let head = "PoST /a%20b?x=1%3D2&y&z= HTTP/1.1\r\nhOST:  x \r\nX-A: 1\r\nx-a: 2\r\nContent-Length: 2\r\n\r\n"
        let client = try RawClient(server)

        try client.send(head + "ok")

        let request = try #require(try server.waitForRequests(1).first)
        #expect(request.method == "PoST")
        #expect(request.target == "/a%20b?x=1%3D2&y&z=")
        #expect(request.path == "/a%20b")
        #expect(request.query == "x=1%3D2&y&z=")
        #expect(
            request.queryItems == [
                URLQueryItem(name: "x", value: "1=2"), URLQueryItem(name: "y", value: nil),
                URLQueryItem(name: "z", value: ""),
            ]
        )
        #expect(request.version == "HTTP/1.1")
        #expect(request.headers == ["hOST": "x", "X-A": "1", "x-a": "2", "Content-Length": "2"])
        #expect(request.rawHead == Data(head.utf8))
        #expect(request.bodyText == "ok")
        #expect(request.isComplete)
        #expect(request.description == "PoST /a%20b?x=1%3D2&y&z= (connection 1, request 0)")
    }

    @Test func `a head that arrives byte by byte is recorded like any other`() throws {
        let head = "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n"
        let client = try RawClient(server)

        for byte in head.utf8 { try client.send(bytes: [byte]) }

        #expect(try server.waitForRequests(1).map(\.rawHead) == [Data(head.utf8)])
    }

    @Test func `requests have the number of their connection and their index on it`() throws {
        server.route("GET", "/*") { _ in .status(200) }
        let clients = [try RawClient(server), try RawClient(server)]
        for (client, target) in [(clients[0], "/a"), (clients[1], "/b"), (clients[0], "/c")] {
            try client.send("GET \(target) HTTP/1.1\r\nHost: x\r\n\r\n")
            _ = try client.readHead()
        }

        #expect(server.requests.map(\.target) == ["/a", "/b", "/c"])
        #expect(server.requests.map(\.connection) == [1, 2, 1])
        #expect(server.requests.map(\.indexOnConnection) == [0, 0, 1])
        #expect(server.connections.map(\.requestCount) == [2, 1])
    }

    @Test func `a large upload is counted but stored only up to the limit`() throws {
        var options = TestServer.Options()
        options.storedBodyLimit = 1_000
        options.storedTranscriptLimit = 10
        let server = try TestServer(options: options)
        server.enqueue(.status(200))
        let client = try RawClient(server)
        let block = Array(repeating: UInt8(ascii: "z"), count: 1_000_000)

        try client.send("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 50000000\r\n\r\n")
        for _ in 0..<50 { try client.send(bytes: block) }
        _ = try client.readHead()

        let request = try #require(server.requests.first)
        #expect(request.bodyByteCount == 50_000_000)
        #expect(request.body == Data(block.prefix(1_000)))
        #expect(request.isComplete)
        #expect(server.connections[0].received == Data("PUT / HTTP".utf8))
        #expect(server.connections[0].bytesReceived == 50_000_000 + request.rawHead.count)
    }

    @Test func `an abandoned upload is recorded as incomplete`() throws {
        let client = try RawClient(server)

        try client.send("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc")
        client.shutDownWriting()

        #expect(try server.waitForEnd(ofConnection: 1) == .clientClosed)
        let request = try #require(server.requests.first)
        #expect(!request.isComplete)
        #expect(request.bodyText == "abc")
    }

    @Test func `each kind of end of a connection is recorded`() throws {
        server.script(on: .connection(3), .close)
        server.script(on: .connection(4), .reset)
        let clients = try (0..<5).map { _ in try RawClient(server) }
        try server.waitForConnections(5)

        clients[0].close()
        clients[1].reset()
        for number in 1...4 { try server.waitForEnd(ofConnection: number) }
        #expect(server.openConnections == 1)
        #expect(server.connections[4].end == nil)
        server.stop()

        #expect(
            server.connections.map(\.end)
                == [.clientClosed, .clientReset, .serverClosed, .serverReset, .serverStopped]
        )
        #expect(server.openConnections == 0)
        #expect(server.acceptedConnections == 5)
    }

    @Test func `a client that goes away before its reply is a reset, not a signal`() throws {
        server.enqueue(.stream(.repeating("x", count: 100_000_000)).held(until: "gone"))
        let client = try RawClient(server)

        try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        try server.waitForRequests(1)
        client.close()
        server.signal("gone")

        #expect(try server.waitForEnd(ofConnection: 1) == .clientReset)
    }

    @Test func `the error of a wait says what was recorded`() throws {
        let client = try RawClient(server)
        try client.send("GET /only HTTP/1.1\r\nHost: x\r\n\r\n")
        try server.waitForRequests(1)

        let error = #expect(throws: TestServerError.self) {
            try server.waitForRequests(2, timeout: .milliseconds(10))
        }

        #expect(
            error?.description == "The test server waited for 2 requests in vain; so far it saw 1 connections "
                + "(1 open) and 1 requests, the last ones GET /only (connection 1, request 0)"
        )
    }

    @Test func `waiting suspends in asynchronous code`() async throws {
        async let requests = server.waitForRequests(1)
        let client = try RawClient(server)
        try client.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")

        #expect(try await requests.map(\.target) == ["/"])
        client.close()
        #expect(try await server.waitForConnections(1).count == 1)
        #expect(try await server.waitForEnd(ofConnection: 1) == .serverClosed)
        #expect(try await server.waitUntilIdle().count == 1)
        await #expect(throws: TestServerError.self) {
            try await server.waitForRequests(2, timeout: .milliseconds(10))
        }
    }

    @Test func `cancelling a task ends its wait`() async throws {
        let waiting = Task { try await server.waitForRequests(1, timeout: .seconds(600)) }

        waiting.cancel()

        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test func `forgotten requests do not count for a wait`() throws {
        server.route("GET", "/*") { _ in .status(200) }
        let client = try RawClient(server)
        try client.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
        _ = try client.readHead()

        server.forgetRequests()
        try client.send("GET /b HTTP/1.1\r\nHost: x\r\n\r\n")

        #expect(try server.waitForRequests(1).map(\.target) == ["/b"])
    }
}
