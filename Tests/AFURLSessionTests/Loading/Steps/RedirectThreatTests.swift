import AFTLS

@testable import AFState

/// Redirects with everything else: caches, pins, hosts that want TLS, and delegates with ideas of their own.
@Suite("Redirects, threatened")
struct RedirectThreatTests {
    private let server: TestServer
    private let other: TestServer
    private let session = URLSession.loopback()

    init() throws {
        server = try TestServer()
        other = try TestServer()
        for server in [server, other] {
            server.route("*", "/end") { request in .text("\(request.method) \(request.bodyText)") }
        }
    }

    private func permanent(_ location: String) -> ServerReply {
        ServerReply.text("moved").status(301).header("Location", location).header("Cache-Control", "max-age=100")
    }

    /// Loads until the answer comes from the cache.
    private func warm(_ session: URLSession, _ url: URL) async throws {
        _ = try await session.outcome(of: url)
        await session.settled()
    }

    @Test func `T-RED-27 no server is told where a redirect came from`() async throws {
        server.route("GET", "/1", ServerReply.status(302).header("Location", "/2?token=canary"))
        server.route("GET", "/2", ServerReply.status(302).header("Location", other.url("/end").absoluteString))

        #expect(try await URLSession.loopback().outcome(of: server.url("/1")).text == "GET ")

        let requests = server.requests + other.requests
        #expect(requests.map { $0.headers["Referer"] } == [nil, nil, nil])
        #expect(!"\(other.requests.map(\.headers))".contains("canary"))
    }

    // MARK: - From the cache

    @Test func `T-RED-29 a redirect from the cache counts like any other`() async throws {
        for number in 0..<25 {
            server.route("GET", "/r\(number)", permanent(number == 24 ? "/end" : "/r\(number + 1)"))
        }
        server.route("GET", "/self", permanent("/self"))
        try await warm(session, server.url("/r12"))
        #expect(server.requests.count == 14)

        server.forgetRequests()
        let outcome = try await session.outcome(of: server.url("/r0"))
        #expect(outcome.error?.code == .httpTooManyRedirects && outcome.status == 301)
        #expect(server.requests.map(\.path) == (0..<12).map { "/r\($0)" })

        for _ in 1...2 {
            server.forgetRequests()
            #expect(try await session.outcome(of: server.url("/self")).error?.code == .httpTooManyRedirects)
            await session.settled()
            #expect(server.requests.count <= 21)
        }
        #expect(server.requests.isEmpty)
    }

    @Test func `T-RED-29 a redirect from the cache takes no secret along, and the delegate is asked`() async throws {
        let place = other.url("/end").absoluteString
        server.route("GET", "/1", permanent(place).header("Cache-Control", "public, max-age=1000"))
        let witness = Witness()
        let session = URLSession.loopback(delegate: witness)
        try await warm(session, server.url("/1"))

        let secret = URLRequest("GET", server.url("/1"), fields: ["X-Api-Key": "canary", "X-Plain": "1"])
        let outcome = try await session.outcome(of: secret)

        #expect(outcome.text == "GET " && server.requests.count == 1 && other.requests.count == 2)
        #expect(other.requests.allSatisfy { $0.headers["X-Api-Key"] == nil })
        #expect(other.requests.last?.headers["X-Plain"] == "1")
        #expect(witness.words.value == ["redirect 301", "metrics", "redirect 301", "metrics"])
    }

    @Test func `T-RED-29 a delegate that refuses gets the redirect that was kept`() async throws {
        server.route("GET", "/1", permanent("/end"))
        let witness = Witness { $0.redirect = { _, _, done in done(nil) } }
        let session = URLSession.loopback(delegate: witness)

        for _ in 1...2 {
            let outcome = try await session.outcome(of: server.url("/1"))
            await session.settled()
            #expect(outcome.status == 301 && outcome.text == "moved")
        }
        #expect(server.requests.count == 1)
    }

    @Test func `T-RED-29 a redirect that was followed is kept with its body`() async throws {
        server.route("GET", "/1", permanent("/end"))
        let refuses = Lock(false)
        let witness = Witness {
            $0.redirect = { _, request, done in done(refuses.withLock { $0 } ? nil : request) }
        }
        let session = URLSession.loopback(delegate: witness)
        try await warm(session, server.url("/1"))
        refuses.withLock { $0 = true }

        let outcome = try await session.outcome(of: server.url("/1"))

        #expect(outcome.status == 301 && outcome.text == "moved" && server.requests.count == 2)
    }

    @Test func `T-RED-29 a redirect whose body is coded is followed and not kept`() async throws {
        server.route("GET", "/1", permanent("/end").header("Content-Encoding", "gzip"))
        try await warm(session, server.url("/1"))

        #expect(try await session.outcome(of: server.url("/1")).text == "GET ")
        #expect(server.requests.filter { $0.path == "/1" }.count == 2)
    }

    @Test(arguments: ["/end", "http://a b/"])
    func `RFC 9111 §4.4 a change whose answer redirects removes what is stored, followed or refused`(
        location: String
    ) async throws {
        server.route("GET", "/1", ServerReply.text("old").header("Cache-Control", "max-age=100"))
        server.route("PUT", "/1", ServerReply.status(303).header("Location", location))
        try await warm(session, server.url("/1"))
        _ = try await session.outcome(of: server.url("/1"))
        #expect(server.requests.count == 1)

        _ = try await session.outcome(of: URLRequest("PUT", server.url("/1")))
        #expect(try await session.outcome(of: server.url("/1")).text == "old")

        #expect(server.requests.filter { $0.path == "/1" }.map(\.method) == ["GET", "PUT", "GET"])
    }

    @Test func `T-RED-29 T-RED-09 from https to http does not go from the cache either`() async throws {
        let site = try SecuredSite()
        site.server.route("GET", "/1", permanent(other.url("/end").absoluteString))
        let session = site.session()

        for _ in 1...2 {
            let outcome = try await session.outcome(of: site.server.url("/1"))
            await session.settled()
            #expect(outcome.error?.code == .unsupportedURL && outcome.status == 301)
        }
        #expect(other.acceptedConnections == 0)
    }

    // MARK: - Pins

    @Test func `T-TLS-21 each hop is judged by the rules of the session, and no request goes where it fails`()
        async throws
    {
        let authority = try CertificateAuthority()
        func site() throws -> SecuredSite { try SecuredSite(authority: authority, authority.issue(for: "127.0.0.1")) }
        let (pinned, stranger) = (try site(), try site())
        let pin = try #require(try await servedPin(of: pinned))
        pinned.server.route("GET", "/1", ServerReply.status(302).header("Location", "\(stranger.server.url("/hello"))"))
        var tls = pinned.tls
        tls.evaluator = FixedEvaluator([9]) { trust in
            trust.evaluation.isTrusted && trust.servedChain.first?.pin == pin
                ? .accept : .reject(rule: "pins", explanation: "no pin matches")
        }
        let session = URLSession.loopback { [tls] in $0.tls = tls }

        #expect(try await session.outcome(of: pinned.server.url("/hello")).text == "hello")
        let outcome = try await session.outcome(of: pinned.server.url("/1"))

        #expect(outcome.code == -1202 && outcome.reason == .trust)
        #expect(stranger.server.requests.isEmpty)
        session.invalidateAndCancel()
        #expect(try await stranger.server.waitUntilIdle().allSatisfy { $0.received.isEmpty })
    }

    private func servedPin(of site: SecuredSite) async throws -> PublicKeyPin? {
        let seen = Lock<PublicKeyPin?>(nil)
        var tls = site.tls
        tls.evaluator = FixedEvaluator([8]) { trust in
            seen.withLock { $0 = trust.servedChain.first?.pin }
            return .accept
        }
        _ = try await URLSession.loopback { [tls] in $0.tls = tls }.outcome(of: site.server.url("/hello"))
        return seen.withLock { $0 }
    }

    // MARK: - Delegates with other requests

    @Test func `T-STS-06 a delegate's own request to a host that wants TLS does not go in the clear`() async throws {
        server.route("GET", "/1", ServerReply.status(302).header("Location", "/end"))
        let entry = HSTSStore.Entry(host: "localhost", includesSubdomains: false, expires: .distantFuture)
        let store = HSTSStore(entries: [try #require(entry)])
        let target = other.url("/end", host: "localhost")
        let witness = Witness { $0.redirect = { _, _, done in done(URLRequest(url: target)) } }
        let session = URLSession.loopback(delegate: witness) { $0.strictTransportSecurity = store }

        let outcome = try await session.outcome(of: server.url("/1", host: "127.0.0.1"))

        #expect(outcome.error != nil && other.requests.isEmpty, "\(outcome)")
    }

    @Test(arguments: ["http", "https"])
    func `T-STS-06 from https a delegate leads to a host that wants TLS over TLS`(scheme: String) async throws {
        let site = try SecuredSite()
        site.server.route("GET", "/1", ServerReply.status(302).header("Location", "/2"))
        let entry = HSTSStore.Entry(host: "localhost", includesSubdomains: false, expires: .distantFuture)
        let store = HSTSStore(entries: [try #require(entry)])
        let target = try #require(URL(string: "\(scheme)://localhost:\(site.server.port)/hello"))
        let witness = Witness { $0.redirect = { _, _, done in done(URLRequest(url: target)) } }
        let session = URLSession.loopback(delegate: witness) {
            $0.tls.anchors = .certificates([site.authority.certificate])
            $0.strictTransportSecurity = store
        }

        let outcome = try await session.outcome(of: site.server.url("/1", host: "localhost"))

        #expect(outcome.text == "hello" && outcome.response?.url?.scheme == "https")
    }

    @Test func `T-RED-01 fields that the session adds do not go where a delegate leads either`() async throws {
        server.route("GET", "/1", ServerReply.status(302).header("Location", "/2"))
        let target = other.url("/end")
        let witness = Witness { answers in
            answers.redirect = { _, request, done in
                var request = request
                request.url = target
                done(request)
            }
        }
        let session = URLSession.loopback(delegate: witness) {
            $0.httpAdditionalHeaders = ["Authorization": "canary", "X-Fine": "1"]
        }

        #expect(try await session.outcome(of: server.url("/1")).text == "GET ")

        #expect(server.requests.first?.headers["Authorization"] == "canary")
        #expect(other.requests.first?.headers["Authorization"] == nil && other.requests.first?.headers["X-Fine"] == "1")
    }

    @Test func `15.6 another request of the delegate's is the one that is sent, with its own body`() async throws {
        server.route("*", "/1", ServerReply.status(302).header("Location", "/2"))
        server.route("*", "/307", ServerReply.status(307).header("Location", "/2"))
        let target = server.url("/end")
        for path in ["/1", "/307"] {
            for isStreamed in [false, true] {
                let witness = Witness { answers in
                    answers.redirect = { _, _, done in
                        var own = URLRequest("POST", target)
                        if isStreamed {
                            own.httpBodyStream = InputStream(data: Data("own".utf8))
                        } else {
                            own.httpBody = Data("own".utf8)
                        }
                        done(own)
                    }
                }
                let session = URLSession.loopback(delegate: witness)
                let data = URLRequest("POST", server.url(path), body: Data("first".utf8))
                var streamed = URLRequest("POST", server.url(path))
                streamed.httpBodyStream = InputStream(data: Data("first".utf8))

                #expect(try await session.outcome(of: data).text == "POST own", "\(path) \(isStreamed)")
                #expect(try await session.outcome(of: streamed).text == "POST own", "\(path) \(isStreamed)")
                let file = try ScratchFolder()
                let upload = session.uploadTask(
                    with: URLRequest("POST", server.url(path)),
                    fromFile: try file.file(Data("first".utf8))
                )
                upload.resume()
                try await witness.words.wait { $0.contains { $0.hasPrefix("completed") } }
                #expect(witness.body.withLock { $0 } == Data("POST own".utf8), "\(path) \(isStreamed)")
            }
        }
    }
}
