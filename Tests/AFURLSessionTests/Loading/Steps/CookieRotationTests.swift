/// A site that gives its cookie another value with each response: no two requests say the same of their user.
@Suite("Stored responses and cookies that change")
struct CookieRotationTests {
    /// Says who has logged in, and counts the visits in the cookie.
    private final class Site: Sendable {
        struct State {
            var user = "ann"
            var visits = 0
            /// The entity tag that the content has.
            var tag = "\"1\""
            /// The entity tag of its 304; nil if it has none.
            var confirmed: String? = "\"1\""
            var fields = ["Cache-Control": "private, max-age=60"]
            /// How it answers in place of the content.
            var failure: Int?
            var removes = false
        }

        let server: TestServer
        let state = Lock(State())

        init(_ change: (inout State) -> Void = { _ in }) throws {
            server = try TestServer()
            state.withLock { change(&$0) }
            server.route("GET", "/") { [state] request in
                state.withLock { state in
                    state.visits += 1
                    if let failure = state.failure { return .status(failure) }
                    let isKnown = request.headers["If-None-Match"] == state.tag
                    var reply = isKnown ? ServerReply.status(304) : .text(state.user)
                    if let tag = isKnown ? state.confirmed : state.tag { reply = reply.header("ETag", tag) }
                    reply = reply.header("Set-Cookie", "visit=\(state.visits); Path=/")
                    if state.removes { reply = reply.header("Set-Cookie", "login=; Max-Age=0; Path=/") }
                    return state.fields.reduce(reply) { $0.header($1.key, $1.value) }
                }
            }
        }

        func change(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

        /// Loads the page so often, and tells what the last one was.
        func visit(_ session: URLSession, times: Int = 1, _ change: (inout URLRequest) -> Void = { _ in }) async throws
            -> String?
        {
            var text: String?
            for _ in 0..<times {
                var request = URLRequest(url: server.url("/"))
                change(&request)
                text = try await session.outcome(of: request).text
                await session.settled()
            }
            return text
        }

        var tags: [String?] { server.requests.map { $0.headers["If-None-Match"] } }
    }

    /// It has the cookie of a user already.
    private static func session(
        _ site: Site,
        login: String = "1",
        jar: HTTPCookieStorage? = nil,
        cache: URLCache? = nil
    ) -> URLSession {
        URLSession.loopback { configuration in
            configuration.urlCache = cache ?? URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
            if let jar { configuration.httpCookieStorage = jar }
            let url = site.server.url("/")
            let cookie = HTTPCookie(properties: [
                .name: "login", .value: login, .path: "/", .domain: url.host() ?? "", .originURL: url,
            ])
            if let cookie { configuration.httpCookieStorage?.setCookie(cookie) }
        }
    }

    @Test(arguments: [["Cache-Control": "private, max-age=60"], ["Vary": "Cookie, Accept-Language"], [:]])
    func `the server is asked each time, and the stored body is used when it says so`(fields: [String: String])
        async throws
    {
        let site = try Site { $0.fields = fields }
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let session = Self.session(site, cache: cache)
        #expect(try await site.visit(session) == "ann")
        let usage = cache.currentMemoryUsage
        #expect(try await site.visit(session, times: 20) == "ann")
        #expect(site.tags == [nil] + Array(repeating: "\"1\"", count: 20))
        // Each takes the place of the one before.
        #expect(cache.currentMemoryUsage < usage + 200)
    }

    @Test func `another user of the same cookies gets what the server answers`() async throws {
        let site = try Site()
        let session = Self.session(site)
        #expect(try await site.visit(session, times: 2) == "ann")
        site.change { ($0.user, $0.tag, $0.confirmed) = ("bob", "\"2\"", "\"2\"") }
        #expect(try await site.visit(session, times: 2) == "bob")
        #expect(site.tags == [nil, "\"1\"", "\"1\"", "\"2\""])
    }

    @Test(arguments: ["\"2\"", "W/\"1\"", nil])
    func `a 304 that does not name the very content is asked again`(confirmed: String?) async throws {
        let site = try Site { $0.confirmed = confirmed }
        let session = Self.session(site)
        #expect(try await site.visit(session, times: 2) == "ann")
        #expect(site.tags == [nil, "\"1\"", nil])
    }

    @Test func `a weak tag, or none, asks nothing`() async throws {
        for tag in ["W/\"1\"", ""] {
            let site = try Site { state in
                state.tag = tag
                state.fields["Last-Modified"] = "Mon, 02 Jan 2023 00:00:00 GMT"
            }
            #expect(try await site.visit(Self.session(site), times: 2) == "ann")
            #expect(site.tags == [nil, nil])
            #expect(site.server.requests.allSatisfy { $0.headers["If-Modified-Since"] == nil })
        }
    }

    @Test func `it stands in for no error, and answers no policy that asks for any age`() async throws {
        let site = try Site { $0.fields = ["Cache-Control": "max-age=60, stale-if-error=600"] }
        let session = Self.session(site)
        #expect(try await site.visit(session) == "ann")
        site.change { $0.failure = 503 }
        let failed = try await session.outcome(of: site.server.url("/"))
        #expect(failed.status == 503 && site.tags == [nil, "\"1\""])
        for policy in [URLRequest.CachePolicy.returnCacheDataDontLoad, .useProtocolCachePolicy] {
            var request = URLRequest(url: site.server.url("/"))
            request.cachePolicy = policy
            if policy == .useProtocolCachePolicy {
                request.setValue("only-if-cached", forHTTPHeaderField: "Cache-Control")
            }
            await #expect(throws: (any Error).self) { _ = try await session.data(for: request) }
        }
        site.change { $0.failure = nil }
        #expect(try await site.visit(session) { $0.cachePolicy = .returnCacheDataElseLoad } == "ann")
        #expect(try await site.visit(session) { $0.cachePolicy = .reloadIgnoringLocalCacheData } == "ann")
        #expect(try await site.visit(session) { $0.cachePolicy = .reloadRevalidatingCacheData } == "ann")
        #expect(site.tags == [nil, "\"1\"", nil, nil, "\"1\""])
        #expect(site.server.requests.last?.headers["Cache-Control"] == "max-age=0")
    }

    /// After this it may be another user, or asks for something else.
    enum Change: String, CaseIterable, Sendable, Codable {
        case otherStorage, byHand, otherField, programRemoves, programRemovesAll, serverRemoves, language
    }

    @Test(arguments: Change.allCases)
    func `what may be another user asks nothing`(change: Change) async throws {
        let site = try Site { $0.fields = ["Cache-Control": "max-age=60", "Vary": "Cookie, Accept-Language"] }
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let jar = HTTPCookieStorage()
        let session = Self.session(site, jar: jar, cache: cache)
        if change == .serverRemoves { site.change { $0.removes = true } }
        #expect(try await site.visit(session) == "ann")
        site.change { $0.removes = false }
        switch change {
        case .otherStorage:
            _ = try await site.visit(Self.session(site, login: "2", jar: HTTPCookieStorage(), cache: cache))
        case .byHand:
            _ = try await site.visit(session) { $0.setValue("login=1; visit=9", forHTTPHeaderField: "Cookie") }
        case .otherField: _ = try await site.visit(session) { $0.setValue("bob", forHTTPHeaderField: "X-User") }
        case .language: _ = try await site.visit(session) { $0.setValue("de", forHTTPHeaderField: "Accept-Language") }
        case .programRemoves:
            for cookie in jar.cookies ?? [] where cookie.name == "login" { jar.deleteCookie(cookie) }
            _ = try await site.visit(session)
        case .programRemovesAll:
            jar.removeCookies(since: .distantPast)
            _ = try await site.visit(Self.session(site, login: "2", jar: jar, cache: cache))
        case .serverRemoves: _ = try await site.visit(session)
        }
        #expect(site.tags == [nil, nil], "\(change)")
        // From then on it is one user again.
        if change == .serverRemoves || change == .programRemoves {
            #expect(try await site.visit(session) == "ann")
            #expect(site.tags.last == "\"1\"")
        }
    }

    @Test func `a program for one user asks, whatever counts its requests`() async throws {
        let site = try Site()
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        cache.servesOneUser = true
        let session = Self.session(site, cache: cache)
        for number in 0..<3 {
            #expect(try await site.visit(session) { $0.setValue("\(number)", forHTTPHeaderField: "X-Count") } == "ann")
        }
        #expect(site.tags == [nil, "\"1\"", "\"1\""])
    }

    @Test func `the target of a redirect is asked about as well`() async throws {
        let site = try Site()
        site.server.route("GET", "/old", ServerReply.status(302).header("Location", "/"))
        let session = Self.session(site)
        for _ in 0..<3 {
            #expect(try await session.outcome(of: site.server.url("/old")).text == "ann")
            await session.settled()
        }
        let tags = site.server.requests.filter { $0.path == "/" }.map { $0.headers["If-None-Match"] }
        #expect(tags == [nil, "\"1\"", "\"1\""])
    }

    @Test func `sessions that share their cookies and their cache share the answer`() async throws {
        let site = try Site()
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let jar = HTTPCookieStorage()
        #expect(try await site.visit(Self.session(site, jar: jar, cache: cache)) == "ann")
        let other = URLSession.loopback { ($0.urlCache, $0.httpCookieStorage) = (cache, jar) }
        #expect(try await site.visit(other) == "ann")
        #expect(site.tags == [nil, "\"1\""])
    }
}
