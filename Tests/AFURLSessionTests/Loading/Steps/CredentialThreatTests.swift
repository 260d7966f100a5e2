import Glibc

/// What goes wrong with credentials elsewhere, tried over the whole stack.
@Suite("Credentials, threatened")
struct CredentialThreatTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
    }

    private func knowing() -> Witness {
        Witness { $0.challenge = URLSession.AuthChallengeDisposition.password("me", "secret") }
    }

    @Test(arguments: ["gzip", "identity"], [0, 12, 300_000])
    func `T-AUT-13 a 401 that is not answered is the response, coded or not`(coding: String, size: Int) async throws {
        let content = Coded.text(size)
        let sent = coding == "gzip" ? Coded.gzip(content) : content
        let reply = ServerReply.data(sent).status(401).header("Content-Encoding", coding)
        server.route("GET", "/1", reply.header("WWW-Authenticate", "Basic realm=\"r\""))
        let session = URLSession.loopback(delegate: Witness())

        let outcome = try await session.outcome(of: server.url("/1"))

        #expect(outcome.status == 401 && outcome.data == content)
    }

    @Test(arguments: ["gzip", "identity"], [0, 12, 300_000])
    func `T-RED-24 a redirect that a delegate declines is the response, coded or not`(
        coding: String,
        size: Int
    ) async throws {
        let content = Coded.text(size)
        let sent = coding == "gzip" ? Coded.gzip(content) : content
        let reply = ServerReply.data(sent).status(302).header("Content-Encoding", coding)
        server.route("GET", "/1", reply.header("Location", "/2"))
        let witness = Witness { $0.redirect = { _, _, done in done(nil) } }
        let session = URLSession.loopback(delegate: witness)

        #expect(try await session.outcome(of: server.url("/1")).data == content)
        session.dataTask(with: server.url("/1")).resume()
        try await witness.ended()
        #expect(witness.body.withLock { $0 } == content)
    }

    @Test func `T-AUT-14 a stream is asked for again when its server asks who is there`() async throws {
        let content = pattern(400_000)
        server.route("PUT", "/1") { request in
            guard request.headers["Authorization"] != nil else {
                return .status(401).header("WWW-Authenticate", "Basic realm=\"r\"")
            }
            return .text("\(request.body == content)")
        }
        let witness = Witness { answers in
            answers.challenge = URLSession.AuthChallengeDisposition.password("me", "secret")
            answers.stream = { InputStream(data: content) }
        }
        let session = URLSession.loopback(delegate: witness)

        session.uploadTask(withStreamedRequest: URLRequest("PUT", server.url("/1"))).resume()
        let words = try await witness.ended()

        #expect(
            words.filter { $0 != "sent" }.starts(with: ["stream", "challenge HTTPBasic", "stream", "response 200"])
        )
        #expect(witness.body.withLock { $0 } == Data("true".utf8))
    }

    @Test func `T-AUT-17 a server's 407 gets no credential of a proxy, nor a proxy's 401 one of a server`() async throws
    {
        let proxy = try TestProxy()
        let asking = ServerReply.text("x").status(407).header("Proxy-Authenticate", "Basic realm=\"p\"")
        server.route("GET", "/407", asking)
        let witness = knowing()
        let direct = try await URLSession.loopback(delegate: witness).outcome(of: server.url("/407"))
        #expect(direct.status == 407 && server.requests.count == 1)

        var proxies = ProxyConfiguration(try ProxyServer("http://me:secret@127.0.0.1:\(proxy.port)"))
        proxies.includesLoopback = true
        proxies.tunnelsPlainHTTP = true
        let tunnelled = URLSession.loopback(delegate: witness) { [proxies] in $0.proxies = proxies }
        #expect(try await tunnelled.outcome(of: server.url("/407")).status == 407)
        #expect(server.requests.count == 2 && server.requests.allSatisfy { $0.headers["Proxy-Authorization"] == nil })

        proxy.enqueue(.answering(.status(401).header("WWW-Authenticate", "Basic realm=\"r\"")))
        let outcome = try await tunnelled.outcome(of: server.url("/407", host: "localhost"))
        #expect(outcome.error != nil && outcome.reason == .proxy, "\(outcome)")
        #expect(witness.challenges.withLock { $0 }.isEmpty)
    }

    @Test func `T-AUT-19 a server that cannot prove that it knows the password is not told again unasked`() async throws
    {
        server.route("GET", "/*") { request in
            guard request.headers["Authorization"] != nil else {
                let challenge = "Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256"
                return .status(401).header("WWW-Authenticate", challenge)
            }
            let wrong = "rspauth=\"00\", qop=auth, nc=00000001"
            return .text("in").header("Authentication-Info", wrong)
        }
        let session = URLSession.loopback(delegate: knowing())

        for path in ["/1", "/2"] { #expect(try await session.outcome(of: server.url(path)).text == "in") }

        #expect(server.requests.map { $0.headers["Authorization"] != nil } == [false, true, false, true])
    }

    @Test func `T-AUT-08 a request that has to be sent once more has a count of its own`() async throws {
        server.route("GET", "/1") { request in
            guard request.headers["Authorization"] != nil else {
                let challenge = "Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256"
                return .status(401).header("WWW-Authenticate", challenge)
            }
            guard request.headers["If-None-Match"] != nil else {
                return .text("in").header("ETag", "\"1\"").header("Cache-Control", "private, max-age=0")
            }
            return ServerReply.status(304).header("ETag", "\"2\"")
        }
        let session = URLSession.loopback(delegate: knowing())

        for _ in 1...3 {
            #expect(try await session.outcome(of: server.url("/1")).text == "in")
            await session.settled()
        }

        let answers = server.requests.compactMap { $0.headers["Authorization"] }
        let counts = answers.compactMap { $0.firstMatch(of: /nc=([0-9a-f]{8})/)?.1 }
        #expect(Set(counts).count == answers.count, "\(counts)")
    }
}

extension LoopbackTests.Alone {
    @Test func `T-RED-26 no file with credentials is opened because the environment names one`() async {
        await #expect(processExitsWith: .success) {
            let folder = try ScratchFolder()
            let line = Data(
                "machine 127.0.0.1 login me password canary\nmachine localhost login me password canary\n".utf8
            )
            let files = [".netrc", "_netrc", "own"].map { folder.url.appendingPathComponent($0) }
            for file in files { try line.write(to: file) }
            for (name, value) in [("HOME", folder.url.path), ("CURL_HOME", folder.url.path), ("NETRC", files[2].path)] {
                setenv(name, value, 1)
            }
            let watch = inotify_init1(Int32(O_NONBLOCK))
            for file in files {
                try #require(inotify_add_watch(watch, file.path, UInt32(IN_OPEN) | UInt32(IN_ACCESS)) >= 0)
            }
            func wasOpened() -> Bool {
                var buffer = [UInt8](repeating: 0, count: 4096)
                return read(watch, &buffer, buffer.count) > 0
            }
            let (server, other) = (try TestServer(), try TestServer())
            for server in [server, other] {
                server.route("GET", "/1", ServerReply.status(401).header("WWW-Authenticate", "Basic realm=\"r\""))
            }
            let away = other.url("/1", host: "localhost").absoluteString
            server.route("GET", "/2", ServerReply.status(302).header("Location", away))

            for configuration in [URLSessionConfiguration.default, .ephemeral] {
                let session = URLSession(configuration: configuration)
                for path in ["/1", "/2"] {
                    #expect(try await session.outcome(of: server.url(path, host: "127.0.0.1")).status == 401)
                }
            }
            for path in ["/1", "/2"] {
                #expect(try await URLSession.shared.outcome(of: server.url(path)).status == 401)
            }

            #expect(!wasOpened())
            #expect((server.requests + other.requests).allSatisfy { $0.headers["Authorization"] == nil })
            // The watch does see it when code opens one.
            _ = try Data(contentsOf: files[0])
            #expect(wasOpened())
        }
    }
}
