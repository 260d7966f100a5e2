import AFNetworkingTesting
import AFTLS
import Foundation
import Testing

/// Runs the code of `Docs/TestServer.md`.
@Suite struct DocumentationTests {
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

    @Test func `the replies are as the page says`() throws {
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

    @Test func `ready-made routes are installed as shown`() throws {
        let server = try TestServer()
        server.install(.redirects, .digestAuthentication, .compression)
        server.install(.everything)
        let users = RouteSet { $0.route("GET", "/users/:id") { .text("user \($0.parameters["id"] ?? "")") } }
        server.install(users)

        #expect(try Visit(server, "/redirect/2").status == 302)
        #expect(try Visit(server, "/users/7").text == "user 7")
        #expect(try Visit(server, "/cookies").status == 200)
    }

    @Test func `WebSockets are spoken as shown`() throws {
        let server = try TestServer()
        let options = ServerWebSocketOptions(subprotocols: ["chat"], compression: DeflateParameters())
        server.route("GET", "/chat") { _ in
            .webSocket(options) { socket in
                try socket.send(text: "hello", inFragmentsOf: 2)
                while let message = try socket.receive() { try socket.send(message) }
            }
        }
        server.route("GET", "/wrong") { _ in
            .webSocket { socket in
                try socket.send(ServerFrame(.ping, "x", isFinal: false, reservedBits: 2))
                try socket.pause(until: "the client has seen it")
                try socket.close(1001, reason: "bye")
            }
        }

        let right = try WebSocketClient(server, "/chat", "Sec-WebSocket-Protocol: chat")
        #expect(right["Sec-WebSocket-Protocol"] == "chat")
        for frame in [(0x01, "he"), (0x00, "ll"), (0x80, "o")] as [(UInt8, String)] {
            #expect(try right.next() == .init(frame.0, frame.1))
        }
        let wrong = try WebSocketClient(server, "/wrong")
        #expect(try wrong.next() == .init(0x29, "x"))
        server.signal("the client has seen it")
        #expect(try wrong.next() == .close(1001, "bye"))
    }

    /// The code under test: loads a page through a proxy.
    private func load(_ url: String, through proxy: URL) -> String? {
        let client = try? RawClient(ListenAddress.ipv4Loopback(port: UInt16(proxy.port ?? 0)))
        let credentials = Data("ann:secret".utf8).base64EncodedString()
        let field = "Proxy-Authorization: Basic \(credentials)"
        try? client?.send("GET \(url) HTTP/1.1\r\nHost: x\r\n\(field)\r\nConnection: close\r\n\r\n")
        return try? client?.readToEnd().components(separatedBy: "\r\n\r\n").last
    }

    @Test func `a proxy is set up as shown`() throws {
        let origin = try TestServer()
        origin.route("GET", "/", .text("hi"))
        let proxy = try TestProxy()
        proxy.rules.authentication = .password(user: "ann", password: "secret")
        proxy.rules.names["origin.test"] = origin.address
        #expect(load("http://origin.test/", through: proxy.url) == "hi")
        #expect(proxy.requests.last?.target == "http://origin.test/")
        #expect(origin.requests.last?.headers["Proxy-Authorization"] == nil)
        #expect(try proxy.waitForForwardings(1).last?.user == "ann")

        proxy.enqueue(.answering(.text("no").status(502)), .forwarding.closing(after: 100))
        proxy.enqueue(.forwarding.establishing(with: .status(200).header("Content-Length", "4")).surplus("junk"))
        proxy.always(.forwarding.dribbling(10, every: .milliseconds(5)))
        proxy.challenge(3)
        #expect(load("http://origin.test/", through: proxy.url)?.contains("not") == true)
    }

    /// The code under test: loads a text and trusts only the certificates of one authority.
    private func load(_ url: URL, pinning authority: Certificate) -> String? {
        let address = ListenAddress.ipv4Loopback(port: UInt16(url.port ?? 0))
        guard let client = try? TLSClient(address, .init(anchors: [authority])) else { return nil }
        do {
            try client.verifyingHandshake()
            try client.send("GET \(url.path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            return try client.readToEnd().components(separatedBy: "\r\n\r\n").last
        } catch {
            client.raw.close()
            return nil
        }
    }

    @Test func `pinning is tested as shown`() throws {
        let authority = try CertificateAuthority()
        let impostor = try authority.makeImpostor()
        let site = try authority.issue(for: "localhost", "127.0.0.1", "::1")
        let forgery = try impostor.issue(for: "localhost", "127.0.0.1", "::1")
        let server = try TestServer(tls: ServerTLS(site))
        server.route("GET", "/secret", .text("42"))
        #expect(load(server.url("/secret"), pinning: authority.certificate) == "42")
        try server.use(tls: ServerTLS(forgery))
        #expect(load(server.url("/secret"), pinning: authority.certificate) == nil)
        #expect(server.connections.last?.bytesReceived == 0)
        server.stop()
    }

    @Test func `certificates and servers are changed as shown`() throws {
        let authority = try CertificateAuthority()
        let site = try authority.issue(for: "localhost", "127.0.0.1", "::1")
        let server = try TestServer(tls: ServerTLS(site))

        let late = try authority.issue(for: "localhost") { $0.expire() }
        let early = try authority.issue(for: "localhost") { $0.postpone() }
        let weak = try authority.issue(for: "localhost", kind: .rsa(bits: 1024)) { $0.digest = .sha1 }
        let other = try authority.issue(for: "localhost") { $0.extendedKeyUsage = [.codeSigning] }
        let broken = try authority.issue(for: "localhost") { $0.breaksSignature = true }
        let odd = try authority.issue(for: "localhost") { $0.otherExtensions = [.unknownCritical] }
        let zero = try authority.issue(for: "x") { $0.alternativeNames = [.raw(tag: 0x82, Array("good\0evil".utf8))] }
        let forged = try authority.issue(.server(for: ["localhost"]), signedBy: CertificateKey())
        let renewed = try authority.issue(for: "localhost", key: site.key)
        let deep = try authority.makeIntermediate().makeIntermediate().issue(for: "localhost")
        let limited = try authority.makeIntermediate { $0.nameConstraints = .init(permitted: [.dns("ours.test")]) }
        let bridge = try CertificateAuthority().crossSign(limited)
        let alone = try IssuedCertificate.selfSigned(.server(for: ["localhost"]))
        let me = try authority.issueClient("me")

        let all = [late, early, weak, other, broken, odd, zero, forged, renewed, deep, alone, me]
        #expect(Set(all.map(\.certificate) + [bridge.certificate, limited.certificate]).count == 14)

        var tls = ServerTLS(site, deep)
        tls.maximumVersion = .tls12
        tls.alpn = .always("h2")
        tls.clientCertificates = .required(by: [authority.certificate])
        tls.credentials[0].certificates += [alone.certificate, alone.certificate]
        tls.handshakeFault = .stall(after: 100)
        try server.use(tls: tls)
    }

    @Test func `an upload is checked as shown`() throws {
        let server = try TestServer()
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
