extension URLSession {
    /// Returns once what the stores have is on the disk.
    fileprivate func written() async {
        await settled()
        await withCheckedContinuation { done in flush { done.resume() } }
    }
}

extension ScratchFolder {
    /// The bytes of all files in it.
    fileprivate func everything() throws -> Data {
        let files = FileManager.default.enumerator(at: url, includingPropertiesForKeys: nil)?.allObjects ?? []
        return files.compactMap { $0 as? URL }.compactMap { try? Data(contentsOf: $0) }.reduce(Data(), +)
    }
}

/// For whom a stored response is. Two users ask for the same URL; the server answers each with the name that the
/// request said.
@Suite("Whose a stored response is")
struct CacheIdentityTests {
    /// How a request says who it is.
    enum Way: String, CaseIterable, Sendable, Codable {
        case authorization, apiKey, authToken, privateToken, user, cookieByHand, cookieStore, sessionField

        var field: String {
            switch self {
            case .authorization: "Authorization"
            case .apiKey, .sessionField: "X-Api-Key"
            case .authToken: "X-Auth-Token"
            case .privateToken: "Private-Token"
            case .user: "X-User"
            case .cookieByHand, .cookieStore: "Cookie"
            }
        }

        /// A session of this user, with a cookie store of its own.
        func session(of user: String, sharing cache: URLCache, to url: URL) -> URLSession {
            URLSession.loopback { configuration in
                configuration.urlCache = cache
                if self == .sessionField { configuration.httpAdditionalHeaders = ["X-Api-Key": user] }
                guard self == .cookieStore else { return }
                let cookie = HTTPCookie(properties: [
                    .name: "user", .value: user, .path: "/", .domain: url.host() ?? "", .originURL: url,
                ])
                if let cookie { configuration.httpCookieStorage?.setCookie(cookie) }
            }
        }

        func request(of user: String, to url: URL) -> URLRequest {
            var request = URLRequest(url: url)
            switch self {
            case .authorization: request.setValue("Bearer \(user)", forHTTPHeaderField: field)
            case .cookieByHand: request.setValue("user=\(user)", forHTTPHeaderField: field)
            case .apiKey, .authToken, .privateToken, .user: request.setValue(user, forHTTPHeaderField: field)
            case .cookieStore, .sessionField: break
            }
            return request
        }
    }

    /// What the server says of its responses, and whether one user may get what another asked for.
    private static let sayings: [(fields: [String: String], isShared: Bool)] = [
        (["Cache-Control": "max-age=60"], false),
        (["Cache-Control": "private, max-age=60"], false),
        (["Cache-Control": "public, max-age=60"], true),
        (["Cache-Control": "public, private, max-age=60"], false),
        (["Cache-Control": "max-age=60", "Vary": "Accept-Language"], false),
        (["Cache-Control": "max-age=60", "Vary": "Authorization, Cookie, X-Api-Key, X-User"], false),
        (
            ["Cache-Control": "public, max-age=60", "Vary": "Authorization, Cookie, X-Api-Key, X-Auth-Token, X-User"],
            true
        ),
        (["Cache-Control": "public, max-age=60", "Set-Cookie": "a=b"], false),
        (["Cache-Control": "max-age=60, stale-while-revalidate=60"], false),
        ([:], false),
    ]

    /// A server that says which user asked.
    static func server(_ fields: [String: String]) throws -> TestServer {
        let server = try TestServer()
        server.route("GET", "/") { request in
            let user = Way.allCases.lazy.compactMap { request.headers[$0.field] }.first ?? "nobody"
            return fields.reduce(ServerReply.text(user)) { $0.header($1.key, $1.value) }
        }
        return server
    }

    @Test(arguments: Way.allCases, sayings.indices)
    func `T-CAC-02 one user never gets another's answer, unless the server says that it is for all`(
        way: Way,
        saying: Int
    ) async throws {
        let (fields, isShared) = Self.sayings[saying]
        let server = try Self.server(fields)
        let url = server.url("/")
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        var answers: [String: String] = [:]
        for user in ["ann", "bob", "ann"] {
            let session = way.session(of: user, sharing: cache, to: url)
            answers[user] = try await session.outcome(of: way.request(of: user, to: url)).text
            await session.settled()
        }
        let named = fields["Vary"].map { $0.contains(way.field) } ?? false
        if isShared && !named {
            #expect(answers["ann"] == answers["bob"] && server.requests.count == 1)
        } else {
            #expect(answers["ann"]?.contains("ann") == true && answers["bob"]?.contains("bob") == true)
            // Each has an answer of its own, which is used again.
            #expect(server.requests.count == (fields.isEmpty ? 3 : 2))
        }
        // Who says not who he is gets neither.
        let plain = URLSession.loopback { $0.urlCache = cache }
        let anonymous = try await plain.outcome(of: url).text
        #expect(anonymous == "nobody" || (isShared && !named), "\(fields)")
    }

    @Test(arguments: Way.allCases)
    func `T-CAC-02 another process finds nothing that a request said who it is for`(way: Way) async throws {
        let server = try Self.server(["Cache-Control": "private, max-age=60"])
        let url = server.url("/")
        let scratch = try ScratchFolder()
        func cache() -> URLCache { URLCache(memoryCapacity: 1 << 20, diskCapacity: 1 << 20, directory: scratch.url) }
        for user in ["ann", "bob", "ann"] {
            let session = way.session(of: user, sharing: cache(), to: url)
            #expect(try await session.outcome(of: way.request(of: user, to: url)).text?.contains(user) == true)
            await session.written()
        }
        #expect(server.requests.count == 3)
        let stored = try scratch.everything()
        #expect(stored.range(of: Data("ann".utf8)) == nil && stored.range(of: Data("bob".utf8)) == nil)
    }

    @Test(arguments: Way.allCases)
    func `T-CAC-02 a program that wants it has each user's answers on the disk, for that user`(way: Way) async throws {
        let server = try Self.server(["Cache-Control": "private, max-age=60"])
        let url = server.url("/")
        let scratch = try ScratchFolder()
        for user in ["ann", "bob", "ann", "bob"] {
            let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 1 << 20, directory: scratch.url)
            cache.keepsPersonalResponsesOnDisk = true
            let session = way.session(of: user, sharing: cache, to: url)
            #expect(try await session.outcome(of: way.request(of: user, to: url)).text?.contains(user) == true)
            await session.written()
        }
        #expect(server.requests.count == 2)
    }

    @Test func `T-CAC-02 a program for one user tells apart accounts, and not what counts its requests`() async throws {
        let server = try Self.server(["Cache-Control": "private, max-age=60"])
        let url = server.url("/")
        let scratch = try ScratchFolder()
        /// In another process each time, since the caches share the folder alone.
        func answer(_ fields: [String: String], isForOne: Bool = true) async throws -> String? {
            let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 1 << 20, directory: scratch.url)
            cache.servesOneUser = isForOne
            let session = URLSession.loopback { $0.urlCache = cache }
            var request = URLRequest(url: url)
            request.allHTTPHeaderFields = fields
            let answer = try await session.outcome(of: request).text
            await session.written()
            return answer
        }
        #expect(try await answer(["X-User": "ann"]) == "ann")
        #expect(try await answer(["X-User": "bob"]) == "ann" && server.requests.count == 1)
        for key in ["1", "2"] { #expect(try await answer(["X-Api-Key": key]) == key) }
        #expect(server.requests.count == 3)
        // Another way of telling users apart finds nothing of it, not even for who names none.
        #expect(try await answer([:], isForOne: false) == "nobody" && server.requests.count == 4)
        #expect(try await answer(["X-User": "bob"], isForOne: false) == "bob")
    }

    @Test func `T-CAC-02 a cache that is no longer for one user has none of his responses`() async throws {
        let server = try Self.server(["Cache-Control": "private, max-age=60"])
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        cache.servesOneUser = true
        let session = URLSession.loopback { $0.urlCache = cache }
        func answer(_ user: String) async throws -> String? {
            try await session.outcome(of: Way.user.request(of: user, to: server.url("/"))).text
        }
        #expect(try await answer("ann") == "ann")
        await session.settled()
        #expect(try await answer("bob") == "ann")
        cache.servesOneUser = false
        #expect(cache.currentMemoryUsage == 0)
        #expect(try await answer("bob") == "bob")
    }

    @Test func `T-CAC-02 a response that becomes private is only for the user who asked`() async throws {
        let server = try TestServer()
        let control = Lock("public, max-age=0")
        server.route("GET", "/") { request in
            let user = request.headers["X-User"] ?? "nobody"
            let isKnown = request.headers["If-None-Match"] != nil
            return (isKnown ? ServerReply.status(304) : .text(user)).header("ETag", "\"1\"")
                .header("Cache-Control", control.withLock { $0 })
        }
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        func answer(_ user: String) async throws -> String? {
            let session = URLSession.loopback { $0.urlCache = cache }
            let answer = try await session.outcome(of: Way.user.request(of: user, to: server.url("/"))).text
            await session.settled()
            return answer
        }
        #expect(try await answer("ann") == "ann")
        // Bob's request confirms it, and the server says that it is his now.
        control.withLock { $0 = "private, max-age=60" }
        #expect(try await answer("bob") == "ann")
        #expect(try await answer("cid") == "cid")
        #expect(try await answer("bob") == "ann" && server.requests.count == 3)
    }
}
