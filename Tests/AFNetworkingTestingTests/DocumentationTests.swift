import AFNetworkingTesting
import Foundation
import Testing

/// Runs what `Docs/TestServer.md` shows.
@Suite struct DocumentationTests {
    @Test func `every line of the page's snippets stands in this file`() throws {
        let here = URL(fileURLWithPath: #filePath)
        let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(contentsOf: root.appendingPathComponent("Docs/TestServer.md"), encoding: .utf8)
        let source = try String(contentsOf: here, encoding: .utf8)
        let known = Set(source.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) })

        let snippets = page.components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "\n```").first }
            .filter { !$0.hasPrefix("// Package.swift") }
        let missing = snippets.flatMap { $0.split(separator: "\n") }
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && !known.contains($0) }

        #expect(snippets.count == 6)
        #expect(missing == [])
    }

    @Test func `the first server answers`() throws {
        let server = try TestServer()
        server.route("GET", "/hello/:name") { request in
            .text("hi \(request.parameters["name"] ?? "")\n").keepAlive(false)
        }
        print("Open \(server.url("/hello/you")) within a minute")
        let client = try RawClient(server)
        try client.send("GET /hello/you HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.readToEnd().hasSuffix("\r\n\r\nhi you\n"))

        try server.waitForEnd(ofConnection: 1, timeout: .seconds(60))
        for request in server.requests {
            print(request.method, request.target)
            print(request.headers)
        }
        server.stop()
    }

    @Test func `routes and queued replies answer as shown`() throws {
        let server = try TestServer()
        defer { server.stop() }
        server.route("GET", "/users/:id") { .text("user \($0.parameters["id"] ?? "")") }
        server.route("*", "/echo") { .data($0.body) }
        server.route("PUT", "/files/*", .status(201))
        server.enqueue(.status(503), .status(503), .text("third time lucky"))
        let client = try RawClient(server)

        for target in ["GET /x", "GET /x", "GET /users/7", "PUT /files/a", "GET /x"] {
            try client.send("\(target) HTTP/1.1\r\nHost: x\r\n\r\n")
        }
        client.shutDownWriting()

        let statuses = try client.readToEnd().matches(of: /HTTP\/1\.1 (\d+)/).map(\.output.1)
        #expect(statuses == ["503", "503", "200", "201", "200"])
    }

    @Test func `the script is played as shown`() throws {
        let server = try TestServer()
        defer { server.stop() }
        server.script(
            .expect("GET /data HTTP/1.1\r\n"),
            .expectHead,
            .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf "),
            .pause(until: "the client has read half"),
            .reset
        )
        let client = try RawClient(server)

        try client.send("GET /data HTTP/1.1\r\nHost: x\r\n\r\n")
        _ = try client.readHead()
        #expect(try client.read(5) == "half ")
        server.signal("the client has read half")

        #expect(throws: RawClient.Failure.self) { try client.readToEnd() }
    }

    @Test func `the replies are what the page says`() throws {
        let created = ServerReply.json(#"{"id": 7}"#).status(201).header("Location", "/users/7")
        let trickle = ServerReply.text("slow").delayed(by: .milliseconds(50)).dribbling(1, every: .milliseconds(5))
        let chunked = ServerReply.text("abcdefgh").chunked(1, 3, trailers: ["X-Sum": "8"])
        let torso = ServerReply.text("0123456789").closing(after: 4)
        let huge = ServerReply.stream(.repeating("0123456789", count: 5_000_000_000))
        let hints = ServerReply.text("done").interim(103, ["Link": "</style.css>"])
        let refusal = ServerReply.status(413).withoutReadingBody()

        let replies = [created, trickle, chunked, torso, huge.closing(after: 3), hints, refusal]
        let answers = try replies.map { reply in
            let server = try TestServer()
            defer { server.stop() }
            server.enqueue(reply)
            let client = try RawClient(server)
            try client.send("POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            return try client.readToEnd()
        }

        #expect(
            answers[0].hasSuffix("\r\nLocation: /users/7\r\nContent-Length: 9\r\nConnection: close\r\n\r\n{\"id\": 7}")
        )
        #expect(answers[1].hasSuffix("\r\n\r\nslow"))
        #expect(answers[2].hasSuffix("\r\n0\r\nX-Sum: 8\r\n\r\n"))
        #expect(answers[3].hasSuffix("\r\n\r\n0123"))
        #expect(answers[4].hasSuffix("\r\n\r\n012"))
        #expect(answers[4].contains("\r\nContent-Length: 5000000000\r\n"))
        #expect(answers[5].hasPrefix("HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\nHTTP/1.1 200 OK\r\n"))
        #expect(answers[6].hasPrefix("HTTP/1.1 413 Content Too Large\r\n"))
    }

    @Test func `an upload is looked at as shown`() throws {
        let server = try TestServer()
        defer { server.stop() }
        let client = try RawClient(server)
        try client.send("PUT / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\n[1,2]")
        _ = try client.readHead()
        client.shutDownWriting()

        let upload = try server.waitForRequests(1)[0]
        #expect(upload.method == "PUT")
        #expect(upload.headers["content-type"] == "application/json")
        #expect(try upload.json(as: [Int].self) == [1, 2])
        #expect(upload.connection == 1 && upload.indexOnConnection == 0)
        #expect(try server.waitForEnd(ofConnection: 1) == .clientClosed)
    }
}
