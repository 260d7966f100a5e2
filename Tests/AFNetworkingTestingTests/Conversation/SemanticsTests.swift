import AFNetworkingTesting
import Foundation
import Testing

@Suite struct SemanticsTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
    }

    @Test func `HEAD gets the head of GET and no body`() throws {
        server.route("GET", "/") { _ in .text("hello").chunked(2) }
        server.route("GET", "/plain") { _ in .text("hello") }
        let client = try RawClient(server)

        try client.send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\nHEAD /plain HTTP/1.1\r\nHost: x\r\n\r\n")

        #expect(try client.readHead().contains("\r\nTransfer-Encoding: chunked\r\n"))
        let second = try client.readHead()
        #expect(second.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(second.contains("\r\nContent-Length: 5\r\n"))
        #expect(client.isSilent)
    }

    @Test(arguments: [204, 304]) func `a reply whose status has no body is sent without one`(status: Int) throws {
        server.enqueue(.text("forbidden").status(status), .text("next"))
        let client = try RawClient(server)

        try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n")

        let first = try client.readHead()
        #expect(first.hasPrefix("HTTP/1.1 \(status) "))
        #expect(first.contains("Content-Length") == (status == 304))
        #expect(try client.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
    }

    @Test func `an empty reply has a length of zero`() throws {
        server.enqueue(.status(200))
        let client = try RawClient(server)

        try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")

        #expect(try client.readHead() == "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    }

    @Test(arguments: [
        ("HTTP/1.1", "", true, nil as String?),
        ("HTTP/1.1", "Connection: close\r\n", false, "close"),
        ("HTTP/1.1", "Connection: x, CLOSE\r\n", false, "close"),
        ("HTTP/1.1", "Connection: closed\r\n", true, nil),
        ("HTTP/1.0", "", false, "close"),
        ("HTTP/1.0", "Connection: Keep-Alive\r\n", true, "keep-alive"),
    ])
    func `version and Connection decide whether the connection stays open`(
        version: String,
        field: String,
        stays: Bool,
        answer: String?
    ) throws {
        server.route("GET", "/") { _ in .text("hi") }
        let client = try RawClient(server)

        try client.send("GET / \(version)\r\nHost: x\r\n\(field)\r\n")

        let head = try client.readHead()
        #expect(head.contains("\r\nConnection: \(answer ?? "")") == (answer != nil))
        #expect(try client.read(2) == "hi")
        if stays {
            try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.readHead().hasPrefix("HTTP/1.1 200"))
        } else {
            #expect(try client.readToEnd() == "")
        }
    }

    @Test func `a 1.0 client never gets chunks`() throws {
        server.enqueue(.text("hello").chunked(1))
        let client = try RawClient(server)

        try client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")

        let reply = try client.readToEnd()
        #expect(!reply.contains("Transfer-Encoding"))
        #expect(reply.hasSuffix("\r\nConnection: close\r\n\r\nhello"))
    }

    @Test func `pipelined requests are answered in order`() throws {
        server.route("*", "/:n") { request in
            .text("\(request.parameters["n"] ?? "")\(request.bodyText)").delayed(by: .milliseconds(1))
        }
        let client = try RawClient(server)
        let posts = (0..<20).map { "POST /\($0) HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n-" }

        try client.send(posts.joined() + "GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")

        let bodies = try client.readToEnd().components(separatedBy: "\r\n\r\n").dropFirst()
            .map { $0.components(separatedBy: "HTTP/1.1").first ?? "" }
        #expect(bodies == (0..<20).map { "\($0)-" } + ["last"])
        #expect(server.requests.map(\.indexOnConnection) == Array(0...20))
    }

    @Test func `the server sends 100 Continue before it reads the body`() throws {
        server.route("POST", "/") { .data($0.body) }
        let client = try RawClient(server)

        try client.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\nContent-Length: 4\r\n\r\n")
        #expect(try client.readHead() == "HTTP/1.1 100 Continue\r\n\r\n")
        try client.send("body")

        #expect(try client.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(try client.read(4) == "body")
    }

    @Test func `a client with Expect is refused before it sends its body`() throws {
        let client = try RawClient(server)

        try client.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")

        #expect(try client.readToEnd().hasPrefix("HTTP/1.1 404 Not Found\r\n"))
        #expect(server.requests.map(\.isComplete) == [false])
    }

    @Test func `a server that ignores Expect waits for the body`() throws {
        var options = TestServer.Options()
        options.answersExpectContinue = false
        let server = try TestServer(options: options)
        server.route("POST", "/") { .data($0.body) }
        let client = try RawClient(server)

        try client.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
        try client.send("body")

        #expect(try client.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
    }

    @Test(arguments: [
        "nonsense\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nbroken line\r\n\r\n",
        "GET / HTTP/2.0\r\nHost: x\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ])
    func `a malformed request is answered with 400 and the connection closes`(text: String) throws {
        let client = try RawClient(server)

        try client.send(text)

        let reply = try client.readToEnd()
        #expect(reply.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
        #expect(reply.contains("\r\nConnection: close\r\n"))
        #expect(try server.waitForEnd(ofConnection: 1) == .serverClosed)
        #expect(server.connections[0].refusal != nil)
    }

    @Test func `after 2xx to CONNECT the bytes are not HTTP`() throws {
        server.route("CONNECT", "api.test:443", .status(200))
        let client = try RawClient(server)

        try client.send("CONNECT api.test:443 HTTP/1.1\r\nHost: api.test:443\r\n\r\n")
        #expect(try client.readHead() == "HTTP/1.1 200 OK\r\n\r\n")
        try client.send("\u{16}\u{3}\u{1} not HTTP")
        client.close()

        #expect(try server.waitForEnd(ofConnection: 1) == .clientClosed)
        #expect(server.connections[0].refusal == nil)
    }

    @Test func `a target in absolute form is routed by its path`() throws {
        server.route("GET", "/a") { .text($0.query ?? "-") }
        let client = try RawClient(server)

        try client.send("GET http://other.test/a?q=/b HTTP/1.1\r\nHost: other.test\r\nConnection: close\r\n\r\n")

        #expect(try client.readToEnd().hasSuffix("\r\n\r\nq=/b"))
    }

    @Test func `a chunked upload is recorded without its framing`() throws {
        server.enqueue(.status(201))
        let client = try RawClient(server)

        try client.send("PUT /f HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        try client.send("3\r\nabc\r\n2\r\nde\r\n0\r\nX-Sum: 5\r\n\r\n")

        let request = try #require(try server.waitForRequests(1).first)
        #expect(request.bodyText == "abcde")
        #expect(request.bodyByteCount == 5)
        #expect(request.trailers == ["X-Sum": "5"])
        #expect(request.isComplete)
    }
}
