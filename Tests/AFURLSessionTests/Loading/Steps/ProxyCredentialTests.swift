/// Proxies that ask who is there, with requests in absolute form and in tunnels.
@Suite("Proxies that want credentials")
struct ProxyCredentialTests {
    private let server: TestServer
    private let proxy: TestProxy

    init() throws {
        proxy = try TestProxy()
        server = try TestServer()
        server.route("*", "/hello") { .text("hello \($0.bodyText)") }
    }

    private func session(
        _ proxy: TestProxy,
        tunnels: Bool,
        _ witness: Witness,
        user: String = ""
    ) throws -> URLSession {
        var proxies = ProxyConfiguration(try ProxyServer("http://\(user)127.0.0.1:\(proxy.port)"))
        proxies.includesLoopback = true
        proxies.tunnelsPlainHTTP = tunnels
        return .loopback(delegate: witness) { [proxies] in $0.proxies = proxies }
    }

    private func knowing(_ user: String, _ password: String) -> Witness {
        Witness { $0.challenge = URLSession.AuthChallengeDisposition.password(user, password) }
    }

    @Test func `T-AUT-17 T-PRX-02 a server in a tunnel is answered itself, and gets no password of the proxy`()
        async throws
    {
        proxy.rules.authentication = .password(user: "me", password: "secret", realm: "p")
        server.route("GET", "/stored", ServerReply.text("stored").header("Cache-Control", "max-age=100"))
        server.route("GET", "/private") { request in
            request.headers["Authorization"] == nil
                ? ServerReply.status(401).header("WWW-Authenticate", "Basic realm=\"s\"") : .text("in")
        }
        let witness = knowing("me", "secret")
        let session = try session(proxy, tunnels: true, witness)
        session.configuration.urlCache?.removeAllCachedResponses()

        #expect(try await session.outcome(of: server.url("/stored")).text == "stored")
        #expect(try await session.outcome(of: server.url("/private")).text == "in")
        // The server ends the tunnel without an answer: the request goes again.
        let fields = server.requests.map { $0.headers["Proxy-Authorization"] }
        #expect(fields.allSatisfy { $0 == nil } && server.requests.count == 3)
        let asked = witness.challenges.withLock { $0.map { $0.protectionSpace.isProxy() } }
        #expect(asked == [true, false])
    }

    @Test func `T-PRX-02 a request that goes again through a tunnel has no password of the proxy`() async throws {
        proxy.rules.authentication = .password(user: "me", password: "secret", realm: "p")
        let witness = knowing("me", "secret")
        let session = try session(proxy, tunnels: true, witness)
        let ok = "HTTP/1.1 200 OK\r\nCache-Control: max-age=100\r\nContent-Length: 1\r\n\r\na"
        server.script(.expectHead, .send(ok), .expectHead, .close)

        #expect(try await session.outcome(of: server.url("/first")).text == "a")
        #expect(try await session.outcome(of: server.url("/hello")).text == "hello ")

        #expect(server.requests.count == 3)
        #expect(server.requests.allSatisfy { $0.headers["Proxy-Authorization"] == nil })
    }

    private static let asking = ServerReply.status(407).header("Proxy-Authenticate", "Basic realm=\"p\"")

    private static let bodies: [String: ServerReply] = [
        "none": asking,
        "short": ServerReply.text("who?").status(407).headers(asking.headers),
        "chunked": ServerReply.text("who are you?").chunked(1, 5).status(407).headers(asking.headers),
        "long": ServerReply.data([UInt8](repeating: 0x78, count: 60_000)).status(407).headers(asking.headers),
        "longer": ServerReply.data([UInt8](repeating: 0x78, count: 400_000)).status(407).headers(asking.headers),
        "endless": ServerReply.stream(.repeating("x", count: 1 << 40)).chunked(1 << 16).status(407)
            .headers(asking.headers),
        "to the end": ServerReply.text("who?").closeDelimited().status(407).headers(asking.headers),
        "coded": ServerReply.text("no gzip").status(407).headers(asking.headers).header("Content-Encoding", "gzip"),
        "cut": ServerReply.text("who are you?").status(407).headers(asking.headers).closing(after: 3),
        "silent": ServerReply.text("who are you?").status(407).headers(asking.headers).stalling(after: 3),
    ]

    @Test(arguments: bodies.keys.sorted(), [false, true])
    func `T-PRX-03 whatever body a 407 has, it is answered`(body: String, tunnels: Bool) async throws {
        proxy.enqueue(.answering(try #require(ProxyCredentialTests.bodies[body])))
        let witness = knowing("me", "secret")

        let outcome = try await session(proxy, tunnels: tunnels, witness).outcome(of: server.url("/hello"))

        #expect(outcome.text == "hello ", "\(outcome)")
        #expect(proxy.requests.map { $0.headers["Proxy-Authorization"] } == [nil, "Basic bWU6c2VjcmV0"])
        #expect(server.requests.count == 1)
        proxy.stop()
    }

    @Test(arguments: ["Basic", "Digest"], [false, true])
    func `T-PRX-03 T-PRX-02 the delegate is asked about the proxy, and the server learns nothing`(
        scheme: String,
        tunnels: Bool
    ) async throws {
        var digest = DigestRules(user: "me", password: "secret")
        digest.algorithm = .sha256
        digest.realm = "p"
        proxy.rules.authentication =
            scheme == "Basic" ? .password(user: "me", password: "secret", realm: "p") : .digest(digest)
        let witness = knowing("me", "secret")
        let session = try session(proxy, tunnels: tunnels, witness)
        let post = URLRequest("POST", server.url("/hello"), body: Data("body".utf8))

        #expect(try await session.outcome(of: post).text == "hello body")
        #expect(try await session.outcome(of: server.url("/hello")).text == "hello ")

        let asked = witness.challenges.withLock { $0 }
        let space = try #require(asked.first?.protectionSpace)
        #expect(asked.count == 1 && space.isProxy() && space.host == "127.0.0.1")
        #expect(space.port == Int(proxy.port) && space.realm == "p")
        #expect(space.authenticationMethod == "NSURLAuthenticationMethodHTTP\(scheme)")
        #expect((asked.first?.failureResponse as? HTTPURLResponse)?.statusCode == 407)
        #expect(server.requests.count == 2)
        for request in server.requests {
            let head = String(decoding: request.rawHead, as: UTF8.self).lowercased()
            #expect(!head.contains("authorization") && !head.contains("secret") && !head.contains("proxy-"))
        }
        // Only the first request was asked. A Digest is good for one tunnel, which is good for one request.
        #expect(proxy.requests.count == (tunnels && scheme == "Basic" ? 2 : 3))
        #expect(proxy.requests.filter { $0.headers["Proxy-Authorization"] == nil }.count == 1)
    }

    @Test(arguments: [false, true])
    func `T-PRX-03 three rounds are enough, and the proxy's refusal is not the server's`(tunnels: Bool) async throws {
        proxy.rules.authentication = .password(user: "me", password: "secret", realm: "p")
        let witness = Witness { answers in
            answers.challenge = { _, challenge, done in
                let password = "no\(challenge.previousFailureCount)"
                done(.useCredential, URLCredential(user: "me", password: password, persistence: .none))
            }
        }

        let outcome = try await session(proxy, tunnels: tunnels, witness).outcome(of: server.url("/hello"))

        if tunnels {
            #expect(outcome.error?.code == .userAuthenticationRequired && outcome.reason == .proxy)
            #expect(outcome.response == nil)
        } else {
            #expect(outcome.status == 407)
        }
        #expect(proxy.requests.count == 4 && server.acceptedConnections == 0)
        #expect(witness.challenges.withLock { $0.map(\.previousFailureCount) } == [0, 1, 2])
    }

    @Test(arguments: [false, true])
    func `T-PRX-03 a body is sent again through the proxy, from wherever it comes`(tunnels: Bool) async throws {
        let content = pattern(200_000)
        server.route("PUT", "/in") { .text("\($0.body == content)") }
        let folder = try ScratchFolder()
        let file = try folder.file(content)
        for kind in ["data", "file", "stream"] {
            let proxy = try TestProxy()
            proxy.rules.authentication = .password(user: "me", password: "secret")
            let witness = Witness { answers in
                answers.challenge = URLSession.AuthChallengeDisposition.password("me", "secret")
                answers.stream = { InputStream(data: content) }
            }
            let session = try session(proxy, tunnels: tunnels, witness)
            let put = URLRequest("PUT", server.url("/in"))
            let task =
                switch kind {
                case "data": session.uploadTask(with: put, from: content)
                case "file": session.uploadTask(with: put, fromFile: file)
                default: session.uploadTask(withStreamedRequest: put)
                }
            task.resume()
            let words = try await witness.ended()

            #expect(words.last == "completed" && witness.body.withLock { $0 } == Data("true".utf8), "\(kind): \(words)")
            #expect(words.count { $0 == "challenge HTTPBasic" } == 1)
        }
    }

    @Test(arguments: [false, true])
    func `T-PRX-03 a delegate may cancel, decline or leave it, and what the proxy was set up with is proposed`(
        tunnels: Bool
    ) async throws {
        func ends(
            _ disposition: URLSession.AuthChallengeDisposition,
            user: String = ""
        ) async throws -> Outcome {
            let proxy = try TestProxy()
            proxy.rules.authentication = .password(user: "me", password: "secret")
            let witness = Witness { $0.challenge = { _, _, done in done(disposition, nil) } }
            return try await session(proxy, tunnels: tunnels, witness, user: user).outcome(of: server.url("/hello"))
        }

        #expect(try await ends(.cancelAuthenticationChallenge).error?.code == .cancelled)
        for disposition in [URLSession.AuthChallengeDisposition.rejectProtectionSpace, .performDefaultHandling] {
            let outcome = try await ends(disposition)
            #expect(tunnels ? outcome.error?.code == .userAuthenticationRequired : outcome.status == 407)
        }
        #expect(try await ends(.performDefaultHandling, user: "me:secret@").text == "hello ")
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [false, true])
    func `T-AUT-07 the credential of the configuration that the proxy refuses is sent once, and not proposed`(
        tunnels: Bool
    ) async throws {
        for scheme in ["Basic", "Digest"] {
            let proxy = try TestProxy()
            proxy.rules.authentication =
                scheme == "Basic"
                ? .password(user: "me", password: "other") : .digest(DigestRules(user: "me", password: "other"))
            let witness = Witness()
            let outcome = try await session(proxy, tunnels: tunnels, witness, user: "me:secret@")
                .outcome(of: server.url("/hello"))

            #expect(tunnels ? outcome.error?.code == .userAuthenticationRequired : outcome.status == 407)
            let asked = witness.challenges.withLock { $0 }
            let isBasic = scheme == "Basic"
            // A Digest has not been refused before the proxy names a nonce.
            #expect(proxy.requests.count == (isBasic ? 1 : 2))
            #expect(asked.map(\.previousFailureCount) == (isBasic ? [1] : [0, 1]))
            #expect(asked.map { $0.proposedCredential != nil } == (isBasic ? [false] : [true, false]))
        }
    }

    @Test func `T-RED-05 credentials that a proxy asked for stay on its side of a redirect`() async throws {
        let direct = try TestServer()
        direct.route("GET", "/end", .text("end"))
        proxy.rules.authentication = .password(user: "me", password: "canary")
        server.route(
            "GET",
            "/1",
            ServerReply.status(302).header("Location", "\(direct.url("/end", host: "localhost"))")
        )
        var proxies = ProxyConfiguration(try ProxyServer("http://127.0.0.1:\(proxy.port)"))
        proxies.includesLoopback = true
        proxies.exceptions = try ProxyExceptions(["localhost"])
        let session = URLSession.loopback(delegate: knowing("me", "canary")) { [proxies] in $0.proxies = proxies }

        let outcome = try await session.outcome(of: server.url("/1", host: "127.0.0.1"))

        #expect(outcome.text == "end", "\(outcome)")
        for request in server.requests + direct.requests {
            #expect(request.headers["Proxy-Authorization"] == nil && request.headers["Authorization"] == nil)
        }
        #expect(direct.requests.count == 1 && proxy.requests.count == 2)
    }
}
