import AFNetworkingTesting
import Foundation
import Testing

@Suite struct ProxyTests {
    private let origin: TestServer
    private let proxy: TestProxy

    init() throws {
        origin = try TestServer()
        origin.install(.everything)
        proxy = try TestProxy()
        proxy.rules.names["origin.test"] = .ipv4Loopback
        proxy.rules.names["origin.test:80"] = origin.address
    }

    private func get(_ path: String, _ fields: String...) throws -> Visit {
        try Visit(proxy.server, "http://origin.test\(path)", ["Host: origin.test"] + fields)
    }

    /// A connection with an open tunnel, and the head that answered CONNECT.
    private func tunnel(_ fields: String = "") throws -> (client: RawClient, head: String) {
        let client = try RawClient(proxy.server)
        try client.send(
            "CONNECT origin.test:\(origin.port) HTTP/1.1\r\nHost: origin.test:\(origin.port)\r\n\(fields)\r\n"
        )
        return (client, try client.readHead())
    }

    // MARK: - Requests in absolute form

    @Test func `the proxy forwards a request in absolute form in origin form`() throws {
        let reply = try get(
            "/anything?a=1",
            "X-Hop: 1",
            "Connection: x-hop",
            "Proxy-Connection: keep-alive",
            "X-Own: 2"
        )

        #expect(reply.status == 200)
        #expect(reply["connection"] == "close")
        let received = try #require(origin.requests.first)
        #expect(received.target == "/anything?a=1")
        #expect(received.headers["Host"] == "origin.test")
        #expect(received.headers["X-Own"] == "2")
        #expect(received.headers["X-Hop"] == nil)
        #expect(received.headers["Proxy-Connection"] == nil)
        #expect(proxy.requests.map(\.target) == ["http://origin.test/anything?a=1"])
        let forwarding = try #require(try proxy.waitForForwardings(1).first)
        #expect(forwarding.means == .request)
        #expect(forwarding.host == "origin.test")
        #expect(forwarding.port == 80)
        #expect(forwarding.outcome == .ended)
        #expect(forwarding.bytesToTarget == origin.connections[0].bytesReceived)
        #expect(forwarding.bytesToClient == proxy.connections[0].bytesSent)
    }

    @Test func `one connection of a client carries requests to several origins`() throws {
        let other = try TestServer()
        other.route("GET", "/", .text("other"))
        proxy.rules.names["other.test"] = other.address
        let client = try RawClient(proxy.server)
        for (host, path) in [("origin.test", "/bytes/10"), ("other.test", ""), ("origin.test", "/stream/2")] {
            try client.send("GET http://\(host)\(path) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
            #expect(try client.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
            switch path {
            case "": #expect(try client.read(5) == "other")
            case "/bytes/10": _ = try client.read(10)
            default:
                var text = ""
                while !text.hasSuffix("0\r\n\r\n") { text += try client.read(1) }
            }
        }
        client.shutDownWriting()
        #expect(try client.readToEnd().isEmpty)
        #expect(other.requests.map(\.target) == ["/"])
        #expect(proxy.connections.map(\.requestCount) == [3])
    }

    @Test func `bodies pass whole, with a length or in chunks`() throws {
        let body = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let reply = try Visit(
            proxy.server,
            "http://origin.test/post",
            method: "POST",
            ["Host: origin.test"],
            body: body
        )
        #expect(reply.status == 200)
        #expect(try #require(origin.requests.first).body == Data(body))

        let client = try RawClient(proxy.server)
        let head =
            "PUT http://origin.test/put HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        try client.send(head + "3\r\nabc\r\n2\r\nde\r\n0\r\nX-T: 1\r\n\r\n")
        #expect(try Visit(readingFrom: client).json()["data"] as? String == "abcde")
        #expect(origin.requests.last?.trailers["x-t"] == "1")
        #expect(try get("/bytes/100000").body.count == 100_000)
        #expect(try get("/stream-bytes/100000").body.count == 100_000)
    }

    @Test func `a client that waits for 100 gets it`() throws {
        let client = try RawClient(proxy.server)
        let fields = "Host: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\n"
        try client.send("POST http://origin.test/post HTTP/1.1\r\n" + fields)
        #expect(try client.readHead() == "HTTP/1.1 100 Continue\r\n\r\n")
        try client.send("ab")
        #expect(try Visit(readingFrom: client).json()["data"] as? String == "ab")
    }

    @Test func `replies without a body and truncated replies are forwarded as such`() throws {
        let head = try Visit(proxy.server, "http://origin.test/bytes/10", method: "HEAD", ["Host: h"])
        #expect(head["content-length"] == "10")
        #expect(head.body.isEmpty)
        #expect(try get("/status/204").status == 204)
        origin.route("GET", "/torn", .text("0123456789").closing(after: 4))
        let torn = try get("/torn")
        #expect(torn["content-length"] == "10")
        #expect(torn.text == "0123")
        origin.route("GET", "/open", .text("to the end").closeDelimited())
        #expect(try get("/open").text == "to the end")
        origin.route("GET", "/nonsense", .raw("nonsense\r\n\r\n").closing(after: 100))
        #expect(try get("/nonsense").status == 502)
        origin.route("GET", "/nothing", .text("").closing(after: 0, of: .message))
        #expect(try get("/nothing").status == 502)
    }

    @Test func `the routes of the proxy answer requests in origin form`() throws {
        proxy.server.route("GET", "/proxy.pac", .text("DIRECT"))
        #expect(try Visit(proxy.server, "/proxy.pac").text == "DIRECT")
        #expect(try Visit(proxy.server, "/other").status == 404)
        #expect(proxy.forwardings.isEmpty)
    }

    @Test(arguments: ["http://", "http://a:b/", "http://u@h/", "https://h/", "ftp://h/", "http://[::1/", "http://::1/"])
    func `a target it cannot read is refused`(target: String) throws {
        #expect(try Visit(proxy.server, target).status == 400)
    }

    // MARK: - Tunnels

    @Test func `a tunnel carries bytes both ways until both have ended`() throws {
        let (client, head) = try tunnel()
        #expect(head == "HTTP/1.1 200 Connection established\r\n\r\n")
        try client.send("GET /bytes/100000 HTTP/1.1\r\nHost: x\r\n\r\n")
        _ = try client.readHead()
        #expect(try client.read(100_000).utf8.count > 0)
        try client.send("GET /status/204 HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.readHead().hasPrefix("HTTP/1.1 204"))
        client.shutDownWriting()
        #expect(try client.readToEnd().isEmpty)

        let forwarding = try #require(try proxy.waitForForwardings(1).first)
        #expect(forwarding.means == .tunnel)
        #expect(forwarding.bytesToTarget == origin.connections[0].bytesReceived)
        #expect(forwarding.bytesToClient == origin.connections[0].bytesSent)
        #expect(proxy.requests.map(\.method) == ["CONNECT"])
        #expect(try proxy.server.waitForEnd(ofConnection: 1) == .clientClosed)
        #expect(try origin.waitForEnd(ofConnection: 1) == .clientClosed)
    }

    @Test func `bytes that the client sends before the tunnel is open reach the target`() throws {
        let client = try RawClient(proxy.server)
        let early = "GET /status/204 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        try client.send("CONNECT origin.test:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\n" + early)
        _ = try client.readHead()
        #expect(try client.readToEnd().hasPrefix("HTTP/1.1 204"))
    }

    @Test func `one direction does not hold up the other`() throws {
        let count = 1_000_000
        origin.script(.pause(until: "sent"), .send(bytes: [UInt8](repeating: 1, count: count)), .receive(count), .close)
        let (client, _) = try tunnel()
        // The target reads nothing until it has sent everything.
        origin.signal("sent")
        try client.send(bytes: [UInt8](repeating: 2, count: 100_000))
        #expect(try client.read(count).utf8.count == count)
        try client.send(bytes: [UInt8](repeating: 2, count: count - 100_000))
        client.shutDownWriting()
        #expect(try client.readToEnd().isEmpty)
        #expect(try proxy.waitForForwardings(1)[0].bytesToTarget == count)
    }

    @Test func `a reset of either side reaches the other`() throws {
        let (first, _) = try tunnel()
        first.reset()
        #expect(try origin.waitForEnd(ofConnection: 1) == .clientReset)
        origin.script(.receive(1), .reset)
        let (second, _) = try tunnel()
        try second.send("x")
        #expect(throws: RawClient.Failure.self) { try second.readToEnd() }
        #expect(try proxy.server.waitForEnd(ofConnection: 2) == .serverReset)
    }

    @Test func `stopping ends open tunnels`() throws {
        let (client, _) = try tunnel()
        proxy.stop()
        _ = try? client.readToEnd()
        #expect(proxy.connections[0].end == .serverStopped)
        #expect(try origin.waitForEnd(ofConnection: 1) != .serverStopped)
        #expect(proxy.forwardings[0].outcome == .ended)
    }

    @Test func `clients speak TLS to the proxy, and to the target inside of the tunnel`() throws {
        let authority = try CertificateAuthority()
        let outer = try authority.issue(for: "localhost")
        let secure = try TestProxy(tls: ServerTLS(outer))
        secure.rules.names["origin.test"] = origin.address
        let client = try TLSClient(secure.address, .init(anchors: [authority.certificate]))
        try client.verifyingHandshake()
        try client.send("CONNECT origin.test:1 HTTP/1.1\r\nHost: x\r\n\r\n")
        try client.send("GET /bytes/100000 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        let text = try client.readToEnd()

        #expect(text.hasPrefix("HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 OK\r\n"))
        #expect(secure.forwardings[0].bytesToClient == origin.connections[0].bytesSent)
        #expect(secure.url.scheme == "https")
        #expect(secure.connections[0].tls?.isComplete == true)
    }

    // MARK: - Authentication and targets

    @Test func `the proxy asks for user and password`() throws {
        proxy.rules.authentication = .password(user: "ann", password: "secret", realm: "gate")
        let refusal = try get("/get")
        #expect(refusal.status == 407)
        #expect(refusal["proxy-authenticate"] == "Basic realm=\"gate\"")
        let credentials = "Proxy-Authorization: Basic " + Data("ann:secret".utf8).base64EncodedString()
        #expect(try get("/get", credentials).status == 200)
        #expect(origin.requests.map { $0.headers["Proxy-Authorization"] } == [nil])
        #expect(try tunnel().head.hasPrefix("HTTP/1.1 407"))
        #expect(try tunnel(credentials + "\r\n").head.hasPrefix("HTTP/1.1 200"))
        #expect(proxy.forwardings.map(\.user) == [nil, "ann", nil, "ann"])
        #expect(proxy.forwardings[0].outcome == .refused("user or password is wrong or missing"))
    }

    @Test func `a client may try again on the connection that got 407`() throws {
        proxy.rules.authentication = .password(user: "a", password: "b")
        let (client, head) = try tunnel()
        #expect(head.hasPrefix("HTTP/1.1 407"))
        _ = try client.read("user or password is wrong or missing\n".utf8.count)
        let credentials = Data("a:b".utf8).base64EncodedString()
        try client.send(
            "CONNECT origin.test:\(origin.port) HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic \(credentials)\r\n\r\n"
        )
        #expect(try client.readHead().hasPrefix("HTTP/1.1 200"))
        #expect(proxy.connections.count == 1)
    }

    @Test func `Digest covers the target of the request to the proxy`() throws {
        var rules = DigestRules(user: "ann", password: "secret")
        rules.algorithm = .sha256
        rules.qualities = [.request, .body]
        proxy.rules.authentication = .digest(rules)
        let challenge = try #require(try get("/get")["proxy-authenticate"])
        #expect(challenge.contains("qop=\"auth\""))
        var client = try DigestClient(challenge, user: "ann", password: "secret")
        let field = client.answer("GET", "http://origin.test/get", "auth")
        #expect(try get("/get", "Proxy-Authorization: \(field)").status == 200)
        #expect(try get("/get", "Proxy-Authorization: \(field)").status == 407)
        let wrong = client.answer("GET", "/get", "auth")
        #expect(try get("/get", "Proxy-Authorization: \(wrong)").status == 407)
        #expect(proxy.forwardings.last?.outcome == .refused("uri is not the target of the request"))
        let connect = client.answer("CONNECT", "origin.test:\(origin.port)", "auth")
        #expect(try tunnel("Proxy-Authorization: \(connect)\r\n").head.hasPrefix("HTTP/1.1 200"))

        proxy.challenge(1)
        let again = client.answer("GET", "http://origin.test/get", "auth")
        #expect(try get("/get", "Proxy-Authorization: \(again)")["proxy-authenticate"]?.contains("stale=true") == true)
    }

    @Test func `it challenges as often as told, even if the credentials are right`() throws {
        proxy.challenge(2)
        #expect(try (0..<3).map { _ in try get("/get").status } == [407, 407, 200])
    }

    @Test func `the proxy connects to allowed hosts only and asks no resolver`() throws {
        #expect(try Visit(proxy.server, "http://192.0.2.1/").status == 403)
        #expect(try Visit(proxy.server, "http://unknown.test/").status == 502)
        proxy.rules.refusedHosts = ["ORIGIN.test"]
        #expect(try get("/get").status == 403)
        proxy.rules.refusedHosts = []
        proxy.rules.allowedHosts = ["origin.test"]
        #expect(try get("/get").status == 200)
        #expect(try Visit(proxy.server, "http://127.0.0.1:\(origin.port)/get").status == 403)
        proxy.rules.allowedHosts = nil
        #expect(try Visit(proxy.server, "http://127.0.0.1:\(origin.port)/get").status == 200)
        #expect(try Visit(proxy.server, "http://localhost:\(origin.port)/get").status == 200)
        let gone = try TestServer()
        gone.stop()
        let refused = try Visit(proxy.server, "http://127.0.0.1:\(gone.port)/")
        #expect(refused.status == 502)
        #expect(refused.text.contains("Connection refused"))
    }

    @Test func `with reachesOtherMachines it asks the system's resolver`() throws {
        var rules = ProxyRules()
        rules.reachesOtherMachines = true
        rules.connectTimeout = .seconds(5)
        proxy.rules = rules
        #expect(try Visit(proxy.server, "http://127.0.0.1:\(origin.port)/get").status == 200)
        #expect(try Visit(proxy.server, "http://no-such-name.invalid/").status == 502)
    }

    // MARK: - Misbehaviour

    @Test func `it answers in place of the target`() throws {
        proxy.enqueue(
            .answering(.text("canary").status(502)),
            .answering(.status(302).header("Location", "http://evil.test/"))
        )
        #expect(try get("/get").text == "canary")
        #expect(try tunnel().head.contains("Location: http://evil.test/"))
        #expect(try get("/get").status == 200)
        proxy.enqueue(.answering(.stream(.repeating("x", count: 1_000_000)).status(407).closing(after: 10)))
        #expect(try get("/get").body.count == 10)
        proxy.enqueue(.sending(bytes: "garbage".utf8), .refusing(5))
        #expect(try RawReply.of(proxy.server, "CONNECT a.test:1 HTTP/1.1\r\nHost: a\r\n\r\n") == "garbage")
        #expect(try get("/get").status == 502)
        #expect(origin.requests.count == 1)
    }

    @Test func `it sends its own reply and surplus bytes when the tunnel opens`() throws {
        let odd = ServerReply.status(201, reason: "Odd").header("Content-Length", "3").interim(103)
        proxy.enqueue(.forwarding.establishing(with: odd).surplus("\u{16}junk"))
        let (client, interim) = try tunnel()
        #expect(interim.hasPrefix("HTTP/1.1 103"))
        #expect(try client.readHead() == "HTTP/1.1 201 Odd\r\nContent-Length: 3\r\n\r\n")
        #expect(try client.read(5) == "\u{16}junk")
        try client.send("GET /status/204 HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.readHead().hasPrefix("HTTP/1.1 204"))
    }

    @Test func `it closes and resets at the given byte`() throws {
        proxy.enqueue(.forwarding.closing(after: 12), .forwarding.resetting(after: 12), .forwarding.closing(after: 0))
        let request = "GET /get HTTP/1.1\r\nHost: x\r\n\r\n"
        let (first, _) = try tunnel()
        try first.send(request)
        #expect(try first.readToEnd() == "HTTP/1.1 200")
        let (second, _) = try tunnel()
        try second.send(request)
        #expect(throws: RawClient.Failure.self) { try second.readToEnd() }
        let (third, _) = try tunnel()
        #expect(try third.readToEnd().isEmpty)

        proxy.enqueue(.forwarding.closing(after: 5, .toTarget))
        let (fourth, _) = try tunnel()
        try fourth.send(request)
        #expect(try fourth.readToEnd().isEmpty)
        #expect(try proxy.waitForForwardings(4).map(\.bytesToClient) == [12, 12, 0, 0])
        #expect(proxy.forwardings[3].bytesToTarget == 5)

        proxy.enqueue(.forwarding.closing(after: 12), .forwarding.resetting(after: 5, .toTarget))
        #expect(
            try RawReply.of(proxy.server, "GET http://origin.test/get HTTP/1.1\r\nHost: x\r\n\r\n") == "HTTP/1.1 200"
        )
        #expect(throws: RawClient.Failure.self) { try get("/get") }
    }

    @Test func `it stalls, and it dribbles`() throws {
        proxy.enqueue(.forwarding.stalling(after: 12), .forwarding.stalling(after: 12))
        let (client, _) = try tunnel()
        try client.send("GET /get HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.read(12) == "HTTP/1.1 200")
        #expect(client.isSilent)
        client.close()
        let other = try RawClient(proxy.server)
        try other.send("GET http://origin.test/get HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try other.read(12) == "HTTP/1.1 200")
        other.close()
        try proxy.waitForForwardings(2)

        proxy.always(.forwarding.dribbling(40, every: .milliseconds(3)).delayed(by: .milliseconds(5)))
        let start = ContinuousClock.now
        #expect(try get("/bytes/200").body.count == 200)
        let (slow, _) = try tunnel()
        try slow.send("GET /bytes/200 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        #expect(try Visit(readingFrom: slow).body.count == 200)
        #expect(ContinuousClock.now - start >= .milliseconds(40))
    }

    @Test func `a script sends exact bytes`() throws {
        proxy.server.script(.expectHead, .send("HTTP/1.1 200"), .reset)
        let client = try RawClient(proxy.server)
        try client.send("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(throws: RawClient.Failure.self) { try client.readToEnd() + client.readToEnd() }
        #expect(proxy.requests.map(\.target) == ["a:1"])
    }
}

/// Sends these bytes and reads everything that comes back.
enum RawReply {
    static func of(_ server: TestServer, _ request: String) throws -> String {
        let client = try RawClient(server)
        try client.send(request)
        return try client.readToEnd()
    }
}
