import AFTLS

/// What goes wrong with cookies elsewhere, tried over the whole stack.
@Suite("Cookies, threatened")
struct CookieThreatTests {
    private let server: TestServer
    private let other: TestServer
    private let session = URLSession.loopback()

    init() throws {
        server = try TestServer()
        other = try TestServer()
        for server in [server, other] {
            server.route("*", "/set", ServerReply.text("x").header("Set-Cookie", "a=1; Path=/"))
            server.route("*", "/see") { .text($0.headers["Cookie"] ?? "none") }
        }
    }

    private func here(_ path: String) -> URL { server.url(path, host: "127.0.0.1") }
    private func there(_ path: String) -> URL { other.url(path, host: "localhost") }

    private var jar: [HTTPCookie] { session.configuration.httpCookieStorage?.cookies ?? [] }

    @Test func `T-COO-09 a Host field set by hand neither takes cookies nor leaves them to another`() async throws {
        let forged = ["Host": "localhost"]

        _ = try await session.outcome(of: URLRequest("GET", here("/set"), fields: forged))
        #expect(jar.map(\.domain) == ["127.0.0.1"])
        #expect(try await session.outcome(of: there("/see")).text == "none")
        #expect(try await session.outcome(of: URLRequest("GET", here("/see"), fields: forged)).text == "a=1")
        let stealing = URLRequest("GET", there("/see"), fields: ["Host": "127.0.0.1"])
        #expect(try await session.outcome(of: stealing).text == "none")
    }

    @Test(arguments: [200, 204, 302, 303, 307, 401, 404, 500, 503])
    func `T-COO-24 a cookie counts with every final response`(status: Int) async throws {
        server.route("GET", "/1", ServerReply.status(status).header("Set-Cookie", "a=1").header("Location", "/see"))

        _ = try await session.outcome(of: here("/1"))

        #expect(jar.map(\.name) == ["a"])
    }

    @Test func `T-COO-24, T-MSG-38 a cookie does not count in an interim response or behind a body`() async throws {
        let reply = ServerReply.text("x").interim(103, ["Set-Cookie": "a=1"]).interim(100, ["Set-Cookie": "b=1"])
        server.route("GET", "/1", reply.chunked(1, trailers: ["Set-Cookie": "c=1"]))

        #expect(try await session.outcome(of: here("/1")).text == "x")

        #expect(jar == [])
    }

    @Test(arguments: [false, true])
    func `T-COO-24 a cookie of a proxy is not stored`(tunnels: Bool) async throws {
        let proxy = try TestProxy()
        let cookie = ("Set-Cookie", "proxy=1; Path=/")
        let asking = ServerReply.text("who?").status(407).header("Proxy-Authenticate", "Basic realm=\"p\"")
        let granting = ServerReply.status(200).header(cookie.0, cookie.1)
        proxy.enqueue(
            .answering(asking.header(cookie.0, cookie.1)),
            .answering(asking.header(cookie.0, cookie.1).keepAlive(false)),
            tunnels ? .forwarding.establishing(with: granting) : .forwarding
        )
        var proxies = ProxyConfiguration(try ProxyServer(proxy.url.absoluteString))
        proxies.includesLoopback = true
        proxies.tunnelsPlainHTTP = tunnels
        let witness = Witness { answers in
            answers.challenge = { _, _, done in
                done(.useCredential, URLCredential(user: "me", password: UUID().uuidString, persistence: .none))
            }
        }
        let session = URLSession.loopback(delegate: witness) { [proxies] in $0.proxies = proxies }

        let outcome = try await session.outcome(of: here("/see"))

        #expect(outcome.text == "none", "\(outcome)")
        #expect(session.configuration.httpCookieStorage?.cookies == [] && proxy.requests.count == 3)
    }

    @Test func `T-COO-25 a cookie of a redirect stays with who set it, on every hop`() async throws {
        let far = there("/2").absoluteString
        let back = here("/see").absoluteString
        server.route("GET", "/1", ServerReply.status(302).header("Set-Cookie", "a=1; Path=/").header("Location", far))
        other.route("GET", "/2", ServerReply.status(302).header("Set-Cookie", "b=2; Path=/").header("Location", back))

        #expect(try await session.outcome(of: here("/1")).text == "a=1")

        #expect(other.requests.map { $0.headers["Cookie"] } == [nil])
        #expect(Set(jar.map { "\($0.domain) \($0.name)" }) == ["127.0.0.1 a", "localhost b"])
        #expect(try await session.outcome(of: there("/see")).text == "b=2")
    }

    /// Others let the field win that was set by hand. Apple's loader does not, and programs count on it.
    @Test func `15.8 T-COO-32 the jar's value replaces a Cookie field set by hand, which stays with its origin`()
        async throws
    {
        let own = URLRequest("GET", here("/see"), fields: ["Cookie": "mine=1"])
        #expect(try await session.outcome(of: own).text == "mine=1")
        _ = try await session.outcome(of: here("/set"))
        #expect(try await session.outcome(of: own).text == "a=1")
        var unhandled = own
        unhandled.httpShouldHandleCookies = false
        #expect(try await session.outcome(of: unhandled).text == "mine=1")

        server.route("GET", "/away", ServerReply.status(302).header("Location", there("/see").absoluteString))
        for isHandled in [true, false] {
            var away = URLRequest("GET", here("/away"), fields: ["cookie": "mine=1"])
            away.httpShouldHandleCookies = isHandled
            #expect(try await session.outcome(of: away).text == "none")
        }
    }

    /// Cookies know their scheme and no more of how a server was judged; a caller who wants less shared makes a store.
    @Test func `15.1 T-COO-33 default sessions share the jar, as Apple's do, and all others have one of their own`()
        async throws
    {
        let path = "/\(UUID().uuidString)"
        server.route("GET", path + "/set", ServerReply.text("x").header("Set-Cookie", "shared=1; Path=\(path)"))
        server.route("GET", path + "/see") { .text($0.headers["Cookie"] ?? "none") }
        let lax = URLSession(configuration: .default)
        var strict = TLSConfiguration()
        strict.evaluator = FixedEvaluator.refusing
        let configuration = URLSessionConfiguration.default
        configuration.tls = strict
        _ = try await lax.outcome(of: here(path + "/set"))
        defer {
            let mine = HTTPCookieStorage.shared.cookies?.filter { $0.path == path } ?? []
            for cookie in mine { HTTPCookieStorage.shared.deleteCookie(cookie) }
        }

        #expect(try await URLSession(configuration: configuration).outcome(of: here(path + "/see")).text == "shared=1")
        #expect(try await session.outcome(of: here(path + "/see")).text == "none")
        #expect(try await URLSession.loopback().outcome(of: here(path + "/see")).text == "none")
        configuration.httpCookieStorage = HTTPCookieStorage()
        #expect(try await URLSession(configuration: configuration).outcome(of: here(path + "/see")).text == "none")
    }
}
