import AFTLS

@testable import AFURLSession
@testable import AFURLTypes

/// Takes any server, but not in the clear.
private struct Strict: ServerEvaluator {
    let fingerprint: [UInt8]? = [9]

    func evaluate(_ trust: ServerTrust) -> ServerTrustDecision { .accept }
    func forbidsPlainText(to host: String) -> Bool { true }
}

/// Who is answered with what a cache has, that sessions share.
@Suite("Caches, and who is to be believed")
struct CacheTrustTests {
    private let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)

    private func session(_ configure: (URLSessionConfiguration) -> Void = { _ in }) -> URLSession {
        .loopback {
            $0.urlCache = cache
            $0.httpMaximumConnectionsPerHost = 1
            configure($0)
        }
    }

    /// A session whose idle connection leads where the delegate of one of its tasks wanted it to.
    private func vouchedSession(_ site: SecuredSite) async throws -> URLSession {
        let session = session { $0.tls = site.tls }
        let (outcomes, delegate) = (Outcomes(), TaskTrustDelegate())
        let task = session.dataTask(with: site.server.url("/hello"), completionHandler: outcomes.handler)
        task.delegate = delegate
        task.resume()
        #expect(try await outcomes.first().text == "hello")
        #expect(delegate.methods == [NSURLAuthenticationMethodServerTrust])
        return session
    }

    private func questions(_ site: SecuredSite) -> Int { site.server.requests.count { $0.path == "/1" } }

    @Test func `T-CAC-28 a server is not asked about what is stored where only a task's delegate vouched for it`()
        async throws
    {
        let site = try SecuredSite()
        site.server.route("GET", "/1") { request in
            let isKnown = request.headers["If-None-Match"] != nil
            return (isKnown ? ServerReply.status(304) : .text("body")).header("ETag", "\"1\"")
                .header("Cache-Control", isKnown ? "max-age=1000" : "max-age=0")
        }
        let strict = session { $0.tls = site.tls }
        #expect(try await strict.outcome(of: site.server.url("/1")).text == "body")
        await strict.settled()

        let vouched = try await vouchedSession(site)
        for _ in 1...2 {
            #expect(try await vouched.outcome(of: site.server.url("/1")).text == "body")
            await vouched.settled()
        }
        // Over a connection that the rules vouch for, so what it said holds for all.
        #expect(site.server.acceptedConnections == 3 && questions(site) == 2)
        #expect(try await strict.outcome(of: site.server.url("/1")).text == "body")
        #expect(questions(site) == 2)
    }

    @Test func `T-CAC-28 the cache does not ask a server that only a task's delegate accepted`()
        async throws
    {
        let site = try SecuredSite()
        site.server.route("GET", "/1") { request in
            guard request.headers["If-None-Match"] == nil else { return .text("new").header("ETag", "\"2\"") }
            return .text("old").header("ETag", "\"1\"")
                .header("Cache-Control", "max-age=0, stale-while-revalidate=1000")
        }
        let strict = session { $0.tls = site.tls }
        #expect(try await strict.outcome(of: site.server.url("/1")).text == "old")
        await strict.settled()

        let vouched = try await vouchedSession(site)
        #expect(try await vouched.outcome(of: site.server.url("/1")).text == "old")
        try await eventually { questions(site) == 2 }
        // There is one connection that the rules vouch for: what was asked is over.
        #expect(try await vouched.outcome(of: site.server.url("/hello")).text == "hello")
        #expect(site.server.acceptedConnections == 3)

        #expect(try await strict.outcome(of: site.server.url("/1")).text == "new")
    }

    @Test func `T-TLS-20 a pinned host asked in the clear is refused, whatever others have stored`() async throws {
        let server = try TestServer()
        server.route("GET", "/1", .text("clear").header("Cache-Control", "max-age=1000"))
        let open = session()
        #expect(try await open.outcome(of: server.url("/1")).text == "clear")
        await open.settled()
        let pinned = session { $0.tls.evaluator = Strict() }

        for policy in [
            URLRequest.CachePolicy.useProtocolCachePolicy, .returnCacheDataElseLoad, .returnCacheDataDontLoad,
        ] {
            var request = URLRequest(url: server.url("/1"))
            request.cachePolicy = policy
            let outcome = try await pinned.outcome(of: request)
            #expect(outcome.error?.code == .unsupportedURL && outcome.data == nil, "\(policy): \(outcome)")
        }
        #expect(try await open.outcome(of: server.url("/1")).text == "clear")
        #expect(server.requests.count == 1)
    }

    @Test func `a response from an address does not answer a session that may not connect to it`() async throws {
        let server = try TestServer()
        server.route("GET", "/1", .text("inside").header("Cache-Control", "max-age=1000"))
        let open = session()
        let same = AddressFilter { _ in true }
        for session in [open, session { $0.addressFilter = same }, session { $0.addressFilter = same }] {
            #expect(try await session.outcome(of: server.url("/1")).text == "inside")
            await session.settled()
        }
        #expect(server.requests.count == 2)

        for filter in [.publicAddressesOnly, AddressFilter { _ in false }] {
            let outcome = try await session { $0.addressFilter = filter }.outcome(of: server.url("/1"))
            #expect(outcome.data == nil && outcome.reason == .resources, "\(outcome)")
        }
    }

    @Test func `a response of a server in the place of a host does not answer requests for the host`() async throws {
        let (server, other) = (try TestServer(), try TestServer())
        for (server, text) in [(server, "here"), (other, "there")] {
            server.route("GET", "/1", .text(text).header("Cache-Control", "max-age=1000"))
        }
        let override = try #require(HostOverride(host: "127.0.0.1", toPort: Int(other.port)))
        let sessions = [session { $0.hostOverrides = [override] }, session()]

        for _ in 1...2 {
            for (session, text) in zip(sessions, ["there", "here"]) {
                #expect(try await session.outcome(of: server.url("/1")).text == text)
                await session.settled()
            }
        }

        #expect(server.requests.count == 1 && other.requests.count == 1)
    }
}
