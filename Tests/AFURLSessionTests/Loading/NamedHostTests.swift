/// Several hosts behind one URL, told apart by the caller's field `Host`.
@Suite("The host that a caller names")
struct NamedHostTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
        server.route("GET", "/1") { request in
            .text(request.headers["Host"] ?? "").header("Cache-Control", "max-age=100").header("ETag", "\"1\"")
        }
    }

    private func request(_ host: String?, _ path: String = "/1", method: String = "GET") -> URLRequest {
        var request = URLRequest(url: server.url(path))
        request.httpMethod = method
        request.setValue(host, forHTTPHeaderField: "Host")
        return request
    }

    private func load(_ request: URLRequest, in session: URLSession) async throws -> String? {
        let outcome = try await session.outcome(of: request)
        await session.settled()
        return outcome.text
    }

    @Test func `T-REQ-15 T-CAC-15 hosts behind one URL never get each other's bodies, in memory and on disk`()
        async throws
    {
        let folder = try ScratchFolder()
        func session() -> URLSession {
            .loopback { $0.urlCache = URLCache(memoryCapacity: 0, diskCapacity: 4 << 20, directory: folder.url) }
        }
        let own = server.url("/1").host.map { "\($0):\(server.url("/1").port ?? 80)" }
        let first = session()
        for _ in 1...2 {
            #expect(try await load(request("one.test"), in: first) == "one.test")
            #expect(try await load(request("two.test"), in: first) == "two.test")
            #expect(try await load(request(nil), in: first) == own)
        }
        #expect(server.requests.count == 3)
        _ = first.configuration.urlCache?.currentDiskUsage

        let second = session()
        #expect(try await load(request("TWO.test"), in: second) == "two.test")
        #expect(try await load(request("three.test"), in: second) == "three.test")
        #expect(server.requests.count == 4)
    }

    @Test func `the Host stays behind where a delegate leads a redirect to another origin`() async throws {
        let other = try TestServer()
        other.route("GET", "/2", .text("there"))
        server.route("GET", "/away", ServerReply.status(302).header("Location", "/1"))
        let place = other.url("/2")
        let delegate = RedirectDelegate { _, proposed, completion in
            var request = proposed
            request.url = place
            completion(request)
        }

        let outcome = try await URLSession.loopback(delegate: delegate).outcome(of: request("one.test", "/away"))

        #expect(outcome.text == "there" && server.requests.first?.headers["Host"] == "one.test")
        #expect(other.requests.first?.headers["Host"] == "\(place.host ?? ""):\(other.port)")
    }

    @Test func `T-REQ-15 T-CAC-34 what a request with Host outdates and removes is what such a request got`()
        async throws
    {
        server.route("POST", "/1", .text("changed"))
        let session = URLSession.loopback()
        let cache = try #require(session.configuration.urlCache)
        for host in ["one.test", "two.test", nil] { _ = try await load(request(host), in: session) }

        _ = try await load(request("one.test", method: "POST"), in: session)
        #expect(cache.cachedResponse(for: request("one.test")) == nil)
        #expect(cache.cachedResponse(for: request("two.test"))?.data == Data("two.test".utf8))

        cache.removeCachedResponse(for: request("two.test"))
        #expect(cache.cachedResponse(for: request("two.test")) == nil)
        #expect(cache.cachedResponse(for: request(nil)) != nil)

        let mine = try #require(
            HTTPURLResponse(
                url: server.url("/1"),
                statusCode: 200,
                httpVersion: nil,
                headerFields: ["Cache-Control": "max-age=100"]
            )
        )
        cache.storeCachedResponse(CachedURLResponse(response: mine, data: Data("mine".utf8)), for: request("two.test"))
        #expect(try await load(request("two.test"), in: session) == "mine")
        #expect(try await load(request("one.test"), in: session) == "one.test")
    }

    @Test func `T-REQ-15 the Host of a configuration counts as one of the request, also for the cache of a task`()
        async throws
    {
        let cache = URLCache(memoryCapacity: 4 << 20, diskCapacity: 0)
        func session(_ host: String) -> URLSession {
            .loopback {
                $0.urlCache = cache
                $0.httpAdditionalHeaders = ["Host": host]
            }
        }
        let (one, two) = (session("one.test"), session("two.test"))
        defer { for session in [one, two] { session.invalidateAndCancel() } }
        #expect(try await load(request(nil), in: one) == "one.test")
        #expect(try await load(request(nil), in: two) == "two.test")
        #expect(cache.cachedResponse(for: request(nil)) == nil)

        func kept(_ session: URLSession) async -> Data? {
            let task = session.dataTask(with: request(nil))
            return await withCheckedContinuation { continuation in
                cache.getCachedResponse(for: task) { continuation.resume(returning: $0?.data) }
            }
        }
        #expect(await kept(one) == Data("one.test".utf8))
        cache.removeCachedResponse(for: two.dataTask(with: request(nil)))
        #expect(await kept(two) == nil)
        #expect(await kept(one) == Data("one.test".utf8))
    }

    @Test(arguments: ["Basic realm=\"r\"", "Digest realm=\"r\", nonce=\"n\", qop=\"auth\""])
    func `T-REQ-15 T-AUT-01 a credential that one host was content with goes to no other unasked`(challenge: String)
        async throws
    {
        server.route("GET", "/s/1") { request in
            guard request.headers["Authorization"] != nil else {
                return .status(401).header("WWW-Authenticate", challenge)
            }
            return .text("in")
        }
        let witness = Witness { $0.challenge = URLSession.AuthChallengeDisposition.password("me", "secret") }
        let session = URLSession.loopback(delegate: witness)
        func sent() -> [String] {
            server.requests.map { "\($0.headers["Host"] ?? "") \($0.headers["Authorization"] != nil)" }
        }
        for _ in 1...2 { #expect(try await load(request("one.test", "/s/1"), in: session) == "in") }
        #expect(sent() == ["one.test false", "one.test true", "one.test true"])

        // The password was for the first one alone, so the delegate is asked again.
        #expect(try await load(request("two.test", "/s/1"), in: session) == "in")
        #expect(sent().suffix(2) == ["two.test false", "two.test true"])
        #expect(witness.challenges.withLock { $0 }.count == 2)
        #expect(witness.challenges.withLock { $0 }.allSatisfy { $0.proposedCredential == nil })
        _ = try await load(request(nil, "/s/1"), in: session)
        #expect(witness.challenges.withLock { $0 }.count == 3)
    }

    @Test func `T-REQ-15 T-COO-09 cookies stay with the host of the URL`() async throws {
        server.route("GET", "/c") { request in
            .text(request.headers["Cookie"] ?? "none").header("Set-Cookie", "a=1; Path=/")
        }
        let session = URLSession.loopback()
        #expect(try await load(request("one.test", "/c"), in: session) == "none")
        #expect(try await load(request("two.test", "/c"), in: session) == "a=1")
        #expect(session.configuration.httpCookieStorage?.cookies?.map(\.domain) == [server.url("/c").host ?? "no host"])
    }
}
