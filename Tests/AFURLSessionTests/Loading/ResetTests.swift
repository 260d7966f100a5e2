import AFTLS

@testable import AFURLSession
@testable import AFURLTypes

@Suite("What a session has learnt, and forgets")
struct ResetTests {
    private func reset(_ session: URLSession) async {
        await withCheckedContinuation { done in session.reset { done.resume() } }
    }

    @Test(arguments: [true, false])
    func `T-AUT-03 a reset forgets credentials, cookies and what was cached`(hasStorage: Bool) async throws {
        let server = try TestServer()
        server.install(.authentication)
        server.route(
            "GET",
            "/1",
            .text("x").header("Set-Cookie", "a=1; Path=/basic-auth").header("Cache-Control", "max-age=1000")
        )
        let answerer = TaskTrustDelegate { _ in
            (.useCredential, URLCredential(user: "user", password: "secret", persistence: .forSession))
        }
        let session = URLSession.loopback(delegate: answerer) { if !hasStorage { $0.urlCredentialStorage = nil } }
        let secret = server.url("/basic-auth/user/secret")
        for _ in 1...2 {
            #expect(try await session.outcome(of: secret).status == 200)
            #expect(try await session.outcome(of: server.url("/1")).text == "x")
            await session.settled()
        }
        let before = server.requests.map { [$0.path, $0.headers["Authorization"], $0.headers["Cookie"]] }
        #expect(before.count == 4 && before[3][1] != nil && before[3][2] == "a=1" && answerer.count == 1)

        await reset(session)

        #expect(session.configuration.httpCookieStorage?.cookies == [])
        #expect(session.configuration.urlCredentialStorage.map { $0.allCredentials.isEmpty && $0.isEmpty } ?? true)
        #expect(try await session.outcome(of: secret).status == 200)
        #expect(try await session.outcome(of: server.url("/1")).text == "x")
        let after = server.requests.dropFirst(4).map { $0.headers["Authorization"] }
        #expect(after.count == 3 && after.first == .some(nil) && answerer.count == 2)
        #expect(server.requests.dropFirst(4).allSatisfy { $0.headers["Cookie"] == nil })
        #expect(server.acceptedConnections == 2)
    }

    @Test func `a reset forgets TLS sessions, and a flush does not`() async throws {
        let site = try SecuredSite()
        let session = site.session()
        for _ in 1...2 {
            #expect(try await session.outcome(of: site.server.url("/hello")).text == "hello")
            await withCheckedContinuation { done in session.flush { done.resume() } }
        }
        await reset(session)
        #expect(try await session.outcome(of: site.server.url("/hello")).text == "hello")

        #expect(site.server.connections.map { $0.tls?.isResumed } == [false, true, false])
    }

    @Test func `a reset forgets the TLS sessions of proxies too`() async throws {
        let origin = try TestServer()
        origin.route("GET", "/1", .text("x"))
        let authority = try CertificateAuthority()
        let proxy = try TestProxy(tls: ServerTLS(try authority.issue(for: "127.0.0.1")))
        var way = try ProxyServer("https://127.0.0.1:\(proxy.server.port)")
        way.tls.anchors = .certificates([authority.certificate])
        var proxies = ProxyConfiguration(way)
        proxies.includesLoopback = true
        let session = URLSession.loopback { [proxies] in $0.proxies = proxies }
        for _ in 1...2 {
            #expect(try await session.outcome(of: origin.url("/1")).text == "x")
            await withCheckedContinuation { done in session.flush { done.resume() } }
        }

        await reset(session)
        #expect(try await session.outcome(of: origin.url("/1")).text == "x")

        #expect(proxy.server.connections.map { $0.tls?.isResumed } == [false, true, false])
    }

    @Test func `after a flush the disk has the cookies and what was cached, after a reset it has neither`() async throws
    {
        let scratch = try ScratchFolder()
        let file = scratch.file("cookies")
        let server = try TestServer()
        server.route(
            "GET",
            "/1",
            .text("x").header("Set-Cookie", "a=1; Max-Age=1000").header("Cache-Control", "max-age=1000")
        )
        let session = URLSession.loopback {
            $0.httpCookieStorage = HTTPCookieStorage(fileURL: file)
            $0.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 1 << 20, directory: scratch.url)
        }
        func kept() -> (cookies: Int?, responses: Int) {
            let cache = URLCache(memoryCapacity: 0, diskCapacity: 1 << 20, directory: scratch.url)
            return (
                HTTPCookieStorage(fileURL: file).cookies?.count,
                cache.cachedResponse(for: URLRequest(url: server.url("/1"))) == nil ? 0 : 1
            )
        }
        #expect(try await session.outcome(of: server.url("/1")).text == "x")
        await session.settled()

        await withCheckedContinuation { done in session.flush { done.resume() } }
        #expect(kept() == (1, 1))

        await reset(session)
        #expect(kept() == (0, 0))
    }
}
