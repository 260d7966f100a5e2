import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

/// What doc comments of `AFNetworkingTesting` show. Compiled, and not run.
private enum TestingComments {
    static func serverWithTLS() throws {
        let authority = try CertificateAuthority()
        let site = try authority.issue(for: "localhost", "127.0.0.1", "::1")
        let server = try TestServer(tls: ServerTLS(site))
        server.stop()
    }

    static func serverTLS(_ site: IssuedCertificate, _ clients: CertificateAuthority) throws {
        var tls = ServerTLS(site)
        tls.maximumVersion = .tls12
        tls.clientCertificates = .required(by: [clients.certificate])

        _ = tls
    }

    static func events(_ server: TestServer) {
        server.route("GET", "/news", .events("id: 1\ndata: one", "data: two").pacing(every: .milliseconds(20)))
    }

    static func webSockets(_ server: TestServer, _ socket: ServerWebSocket) throws {
        server.route("GET", "/greeting", .webSocket { try $0.send(text: "hello") })
        server.route("GET", "/chat") { _ in
            .webSocket { socket in
                try socket.send(text: "hello")
                while let message = try socket.receive() { try socket.send(message) }
            }
        }
        try socket.send(ServerFrame(.text, "Hello", maskingKey: 0x37FA_213D))
        try socket.send(ServerFrame(.ping, "Hello", isFinal: false))
        try socket.send(ServerFrame(.binary, announcedLength: 1 << 62))
    }

    static func steps(_ proxy: TestServer, _ site: IssuedCertificate) {
        proxy.script(
            .expectHead,
            .send("HTTP/1.1 200 OK\r\n\r\n"),
            .handshake(ServerTLS(site)),
            .serve
        )
    }

    static func digestRules() {
        var rules = DigestRules(user: "ann", password: "secret")
        rules.algorithm = .sha256
        rules.usesPerNonce = 1
        _ = rules
    }

    static func routes(_ server: TestServer) {
        server.route("GET", "/users/:id") { .text("user \($0.parameters["id"] ?? "")") }
        server.route("PUT", "/files/*") { .status(201).header("X-Name", $0.parameters["*"] ?? "") }
        server.route("*", "/echo") { .data($0.body) }
    }

    static func routeWithoutHandler(_ server: TestServer) {
        server.route("POST", "/upload", .status(413).withoutReadingBody())
    }

    static func queuedReplies(_ server: TestServer) {
        server.enqueue(.status(503), .text("ok"))
    }

    static func script(_ server: TestServer) {
        server.script(
            .expect("GET /data HTTP/1.1\r\n"),
            .expectHead,
            .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf "),
            .reset
        )
    }

    static func server(_ session: URLSession) async throws {
        let server = try TestServer()
        server.route("GET", "/users/:id") { request in
            .json(#"{"id": \#(request.parameters["id"] ?? "")}"#)
        }

        let (data, _) = try await session.data(from: server.url("/users/7"))

        #expect(server.requests.map(\.target) == ["/users/7"])
        server.stop()
        _ = data
    }

    static func authority() throws {
        let authority = try CertificateAuthority()
        let site = try authority.issue(for: "api.example.test", "127.0.0.1")
        _ = site
    }

    static func template(_ authority: CertificateAuthority) throws {
        let late = try authority.issue(for: "api.example.test") { $0.expire() }
        let weak = try authority.issue(for: "api.example.test") { $0.digest = .sha1 }
        _ = (late, weak)
    }

    static func cookies(_ server: TestServer) {
        let url = server.url("/cookies/raw?line=a=1%3B%20Path=/deep%3B%20HttpOnly")
        _ = url
    }

    static func redirects() throws {
        let servers = try (0..<3).map { _ in try TestServer() }
        for server in servers { server.install(.redirects(over: servers.map { $0.url() })) }
        // a → b → a again
        let url = servers[0].url("/chain/1/0")
        _ = url
    }

    static func sets(_ session: URLSession) async throws {
        let server = try TestServer()
        server.install(.redirects, .cookies)
        let (data, _) = try await session.data(from: server.url("/redirect/3"))
        _ = data
    }

    static func setsOfOnesOwn(_ server: TestServer) {
        let users = RouteSet { $0.route("GET", "/users/:id") { .text($0.parameters["id"] ?? "") } }
        server.install(.echo, users)
    }

    static func everything(_ server: TestServer) {
        server.install(.everything)
        server.install(.digestAuthentication, .ranges)
    }

    static func fields() {
        let fields: HeaderFields = ["Content-Type": "text/plain", "Set-Cookie": "a=1", "Set-Cookie": "b=2"]
        #expect(fields["content-type"] == "text/plain")
        #expect(fields.values(of: "set-cookie") == ["a=1", "b=2"])
    }

    static func hugeBody(_ server: TestServer) {
        server.route("GET", "/huge") { _ in .stream(.repeating("0123456789", count: 5_000_000_000)) }
    }

    static func ranges(_ server: TestServer, _ film: Data) {
        server.route("GET", "/film") { .file(film, entityTag: "\"1\"", to: $0) }
    }

    static func replies() {
        let found = ServerReply.text("hi")
        let nothing = ServerReply.status(204)
        let made = ServerReply.json(#"{"id": 7}"#).status(201).header("Location", "/users/7")
        let slow = ServerReply.text("slow").delayed(by: .milliseconds(200)).dribbling(1, every: .milliseconds(5))
        let torn = ServerReply.stream(.repeating("x", count: 10_000)).resetting(after: 4_096)
        _ = (found, nothing, made, slow, torn)
    }

    static func behaviours(_ proxy: TestProxy) {
        proxy.enqueue(.answering(.status(502)), .forwarding.closing(after: 100), .forwarding.surplus("220 hello\r\n"))
        proxy.enqueue(.refusing(0x05))
    }

    static func bomb(_ server: TestServer) {
        server.route("GET", "/bomb") { _ in
            .stream(.bomb(.gzip, count: 10_000_000_000)).header("Content-Encoding", "gzip")
        }
    }
}
