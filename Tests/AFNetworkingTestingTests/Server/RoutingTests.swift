import AFNetworkingTesting
import Testing

@Suite struct RoutingTests {
    private func get(_ target: String, from server: TestServer, method: String = "GET") throws -> String {
        let client = try RawClient(server)
        try client.send("\(method) \(target) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        return try client.readToEnd()
    }

    @Test func `a route answers its method and path`() throws {
        let server = try TestServer()
        server.route("GET", "/hello") { _ in .text("hi") }

        let reply = try get("/hello?x=1", from: server)

        #expect(
            reply == """
                HTTP/1.1 200 OK\r
                Content-Type: text/plain; charset=utf-8\r
                Content-Length: 2\r
                Connection: close\r
                \r
                hi
                """
        )
    }

    @Test func `the handler gets captures percent-decoded`() throws {
        let server = try TestServer()
        server.route("GET", "/users/:id/posts/:post") { request in
            .text("\(request.parameters["id"] ?? "-") \(request.parameters["post"] ?? "-")")
        }
        server.route("GET", "/files/*") { .text($0.parameters["*"] ?? "-") }

        #expect(try get("/users/a%2Fb/posts/7", from: server).hasSuffix("\r\n\r\na/b 7"))
        #expect(try get("/files/x/y%20z.txt", from: server).hasSuffix("\r\n\r\nx/y z.txt"))
        #expect(try get("/users//posts/7", from: server).hasPrefix("HTTP/1.1 404 Not Found\r\n"))
        #expect(try get("/users/1/posts/7/", from: server).hasPrefix("HTTP/1.1 404 Not Found\r\n"))
        #expect(server.requests.map(\.parameters["id"]) == ["a/b", nil, nil, nil])
    }

    @Test func `a path with routes for other methods is 405 with Allow`() throws {
        let server = try TestServer()
        server.route("GET", "/thing") { _ in .text("x") }
        server.route("PUT", "/thing") { _ in .text("x") }

        let reply = try get("/thing", from: server, method: "DELETE")

        #expect(reply.hasPrefix("HTTP/1.1 405 Method Not Allowed\r\n"))
        #expect(reply.contains("\r\nAllow: GET, HEAD, PUT\r\n"))
    }

    @Test func `the first matching route answers and the same one again replaces it`() throws {
        let server = try TestServer()
        server.route("GET", "/a/:x") { _ in .text("first") }
        server.route("*", "/a/*") { _ in .text("second") }
        #expect(try get("/a/1", from: server).hasSuffix("first"))
        #expect(try get("/a/1", from: server, method: "POST").hasSuffix("second"))

        server.route("GET", "/a/:x") { _ in .text("replaced") }

        #expect(try get("/a/1", from: server).hasSuffix("replaced"))
    }

    @Test func `enqueued replies answer in order, then the server answers 404`() throws {
        let server = try TestServer()
        server.route("GET", "/routed") { _ in .text("routed") }
        server.enqueue(.status(503), .text("ok"))

        #expect(try get("/x", from: server).hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
        #expect(try get("/routed", from: server).hasSuffix("routed"))
        #expect(try get("/y", from: server).hasSuffix("ok"))
        #expect(try get("/z", from: server).hasPrefix("HTTP/1.1 404 Not Found\r\n"))
    }

    @Test func `a handler that throws becomes a 500 with the error's text`() throws {
        struct Mishap: Error {}
        let server = try TestServer()
        server.route("GET", "/") { _ in throw Mishap() }

        let reply = try get("/", from: server)

        #expect(reply.hasPrefix("HTTP/1.1 500 Internal Server Error\r\n"))
        #expect(reply.contains("Mishap()"))
    }
}
