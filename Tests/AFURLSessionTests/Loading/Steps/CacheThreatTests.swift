import AFTLS

@testable import AFURLSession
@testable import AFURLTypes

/// What goes wrong with caches elsewhere, tried over the whole stack.
@Suite("Caches, threatened")
struct CacheThreatTests {
    private let server: TestServer
    private let session = URLSession.loopback()
    private let outcomes = Outcomes()

    init() throws {
        server = try TestServer()
    }

    private func fresh(_ reply: ServerReply) -> ServerReply { reply.header("Cache-Control", "max-age=100") }

    @Test func `T-CAC-05 a cookie that was stored with its response is not set again`() async throws {
        server.route("GET", "/1", fresh(.text("x")).header("Set-Cookie", "a=1; Path=/"))
        _ = try await session.outcome(of: server.url("/1"))
        await session.settled()
        let jar = try #require(session.configuration.httpCookieStorage)
        for cookie in jar.cookies ?? [] { jar.deleteCookie(cookie) }

        #expect(try await session.outcome(of: server.url("/1")).text == "x")

        #expect(server.requests.count == 1 && jar.cookies == [])
    }

    @Test func `T-CAC-09 a 304 that means another version is asked again, once, and then believed`() async throws {
        let isStubborn = Lock(false)
        server.route("GET", "/1") { request in
            guard request.headers["If-None-Match"] != nil || isStubborn.withLock({ $0 }) else {
                return .text("body").header("ETag", "\"1\"").header("Cache-Control", "max-age=0")
            }
            return ServerReply.status(304).header("ETag", "\"2\"")
        }
        #expect(try await session.outcome(of: server.url("/1")).text == "body")
        await session.settled()

        #expect(try await session.outcome(of: server.url("/1")).text == "body")
        #expect(server.requests.map { $0.headers["If-None-Match"] } == [nil, "\"1\"", nil])

        await session.settled()
        isStubborn.withLock { $0 = true }
        let outcome = try await session.outcome(of: server.url("/1"))
        #expect(outcome.status == 304 && server.requests.count == 5)
    }

    @Test func `T-CAC-09 a 304 without a condition in the request is the answer, and stored nowhere`() async throws {
        server.enqueue(fresh(.status(304)).header("ETag", "\"1\""), .text("body"))

        #expect(try await session.outcome(of: server.url("/1")).status == 304)
        await session.settled()
        #expect(try await session.outcome(of: server.url("/1")).text == "body")
    }

    @Test func `T-CAC-11 a response that may not be stored removes the one that it replaces`() async throws {
        let replies = [
            ServerReply.text("old").header("ETag", "\"1\"").header("Cache-Control", "max-age=0, stale-if-error=1000"),
            ServerReply.text("new").header("Cache-Control", "no-store"),
        ]
        server.enqueue(replies[0], replies[1], .status(500))
        for expected in ["old", "new"] {
            #expect(try await session.outcome(of: server.url("/1")).text == expected)
            await session.settled()
        }

        #expect(try await session.outcome(of: server.url("/1")).status == 500)
        var request = URLRequest(url: server.url("/1"))
        request.cachePolicy = .returnCacheDataDontLoad
        #expect(try await session.outcome(of: request).error?.code == .resourceUnavailable)
    }

    @Test func `a 304 and an answer to HEAD announce bodies that do not come, so their connection stays`() {
        let world = VirtualWorld()
        let length = "Content-Length: 100000\r\n"
        let body = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nCache-Control: max-age=0\r\nContent-Length: 4\r\n\r\nbody"
        let redirect = "HTTP/1.1 302 Found\r\nLocation: /\r\n\(length)\r\n"
        let same = "HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\(length)\r\n"
        world.script(
            "a.test",
            .expectRequest,
            .reply(body),
            .expectRequest,
            .reply(same),
            .expectRequest,
            .reply(redirect),
            .expectRequest,
            .reply("HTTP/1.1 200 OK\r\n\(length)\r\n"),
            .stall
        )

        for _ in 1...2 { #expect(world.load("http://a.test/").body == "body") }
        let head = world.send("HEAD", "http://a.test/2")
        world.run { head.isComplete }

        #expect(head.all == [.response(200), .finished])
        #expect(world.network.connections.count == 1)
        #expect(world.finish() == [])
    }

    @Test(arguments: ["Content-Length: 900000000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n35a4e900\r\n"])
    func `T-CAC-21 an answer for the cache that is too long for it is not read to its end`(framing: String) {
        let world = VirtualWorld()
        world.configure {
            $0.urlCache = URLCache(memoryCapacity: 40_000, diskCapacity: 0)
            $0.httpMaximumConnectionsPerHost = 1
        }
        let stale = "HTTP/1.1 200 OK\r\nCache-Control: max-age=0, stale-while-revalidate=1000\r\nETag: \"1\"\r\n"
        world.scripts(
            "a.test",
            [
                [
                    .expectRequest, .reply(stale + "Content-Length: 4\r\n\r\nbody"),
                    .expectRequest, .reply(stale + framing), .fill(5_000_000), .stall,
                ],
                [.expectRequest, .reply("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .again],
            ]
        )
        for _ in 1...2 { #expect(world.load("http://a.test/").body == "body") }
        world.run(limit: .seconds(10))

        let other = world.get("http://a.test/2")
        world.run(limit: .seconds(10)) { other.isComplete }

        #expect(other.body == "ok")
        #expect(world.network.connections.count == 2)
        #expect(world.network.connections.first?.isOver == true)
        #expect((world.network.connections.first?.sentCount ?? .max) < 2_000_000)
        #expect(world.finish() == [])
    }

    @Test func `T-CAC-14 a redirect after POST outdates what was kept, as any other success does`() async throws {
        server.route("GET", "/1", fresh(.text("old")))
        server.route("POST", "/1", ServerReply.status(303).header("Location", "/2"))
        server.route("GET", "/2", .text("done"))
        func visits() async throws -> Int {
            _ = try await session.outcome(of: server.url("/1"))
            await session.settled()
            return server.requests.count { $0.method == "GET" && $0.path == "/1" }
        }
        #expect(try await visits() == 1)
        #expect(try await visits() == 1)

        let post = URLRequest("POST", server.url("/1"), body: Data("x".utf8))
        #expect(try await session.outcome(of: post).text == "done")

        #expect(try await visits() == 2)
    }

    /// Answers the first GET with the old text once `go` is signalled, and all others with the new one.
    private func serveOldLate() {
        let count = Lock(0)
        let isFirst: @Sendable () -> Bool = {
            count.withLock {
                $0 += 1; return $0 == 1
            }
        }
        server.route("GET", "/1") { [self] _ in
            isFirst() ? fresh(.text("old")).held(until: "go") : fresh(.text("new"))
        }
        server.route("POST", "/1", .text("changed"))
    }

    @Test(arguments: ["POST", "remove", "reset"])
    func `T-CAC-34 a response to a request that left before its URL was outdated is not stored`(
        change: String
    ) async throws {
        serveOldLate()
        session.dataTask(with: server.url("/1"), completionHandler: outcomes.handler).resume()
        try await server.waitForRequests(1)
        switch change {
        case "POST": _ = try await session.outcome(of: URLRequest("POST", server.url("/1"), body: Data("x".utf8)))
        case "remove": session.configuration.urlCache?.removeAllCachedResponses()
        // Another session with the same cache is reset.
        default:
            let configuration = session.configuration
            let other = URLSession(configuration: configuration)
            await withCheckedContinuation { continuation in other.reset { continuation.resume() } }
        }
        server.signal("go")
        #expect(try await outcomes.first().text == "old")
        await session.settled()

        for _ in 1...2 { #expect(try await session.outcome(of: server.url("/1")).text == "new") }
        #expect(server.requests.count { $0.method == "GET" } == 2)
    }

    @Test func `T-CAC-11 a 304 that comes late does not take the place of the newer response`() async throws {
        let isChanged = Watched(false)
        server.route("GET", "/1") { [self] request in
            guard request.headers["If-None-Match"] != nil else {
                return ServerReply.text("v1").header("ETag", "\"1\"").header("Cache-Control", "max-age=0")
            }
            return isChanged.change { isChanged in
                defer { isChanged = true }
                return isChanged
                    ? fresh(.text("v2")).header("ETag", "\"2\"")
                    : fresh(.status(304)).header("ETag", "\"1\"").held(until: "go")
            }
        }
        _ = try await session.outcome(of: server.url("/1"))
        await session.settled()
        session.dataTask(with: server.url("/1"), completionHandler: outcomes.handler).resume()
        // Recorded requests may not have been answered yet, and threads of the server overtake each other.
        try await isChanged.wait("the answer") { $0 }
        #expect(try await session.outcome(of: server.url("/1")).text == "v2")
        await session.settled()
        server.signal("go")
        #expect(try await outcomes.first().text == "v1")
        await session.settled()

        #expect(try await session.outcome(of: server.url("/1")).text == "v2")
        #expect(server.requests.count == 3)
    }

    @Test(arguments: [0, 1])
    func `T-CAC-11 of two responses on their way at the same time the one with the later Date stays`(
        later: Int
    ) async throws {
        let dates = ["Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:38 GMT"]
        let count = Watched(0)
        server.route("GET", "/1") { _ in
            let number = count.change { count in
                defer { count += 1 }
                return count
            }
            let reply = ServerReply.text("\(number)").header("Cache-Control", "max-age=2000000000")
                .header("Date", dates[number == later ? 1 : 0])
            return number == 0 ? reply.held(until: "go") : reply
        }
        session.dataTask(with: server.url("/1"), completionHandler: outcomes.handler).resume()
        try await count.wait("the answer") { $0 == 1 }
        #expect(try await session.outcome(of: server.url("/1")).text == "1")
        await session.settled()
        server.signal("go")
        #expect(try await outcomes.first().text == "0")
        // A response is stored after its task has ended.
        let cache = try #require(session.configuration.urlCache)
        let request = URLRequest(url: server.url("/1"))
        try await eventually { cache.cachedResponse(for: request)?.data == Data("\(later)".utf8) }

        #expect(try await session.outcome(of: server.url("/1")).text == "\(later)")
        #expect(server.requests.count == 2)
    }

    @Test func `T-CAC-11 the response with the later Date stays though a second ends before the other one comes`() {
        let world = VirtualWorld()
        world.hasVirtualDate = true
        func reply(_ body: String, date: String) -> ServerStep {
            let fields = "Date: \(date)\r\nCache-Control: max-age=2000000000\r\nContent-Length: 5\r\n"
            return .reply("HTTP/1.1 200 OK\r\n\(fields)\r\n\(body)")
        }
        world.scripts(
            "a.test",
            [
                [
                    .expectRequest, .delay(.milliseconds(300)), reply("early", date: "Sun, 06 Nov 1994 08:49:37 GMT"),
                    .stall,
                ],
                [.expectRequest, reply("later", date: "Sun, 06 Nov 1994 08:49:38 GMT"), .stall],
            ]
        )
        world.advance(by: .nanoseconds(1_800_000_000 - world.now.nanoseconds % 1_000_000_000))
        let second = world.wall.now().seconds
        let (early, later) = (world.get("http://a.test/"), world.get("http://a.test/"))
        world.run { later.isComplete }
        #expect(world.wall.now().seconds == second)
        world.run { early.isComplete }
        #expect(world.wall.now().seconds == second + 1)

        #expect([early, later].map(\.body) == ["early", "later"])
        #expect(world.load("http://a.test/").body == "later")
        #expect(world.network.connections.count == 2)
        #expect(world.finish() == [])
    }

    @Test func `a coded response that is served stale is renewed in the background`() async throws {
        let version = Lock(0)
        server.route("GET", "/1") { _ in
            let number = version.withLock { version in
                version += 1
                return version
            }
            // More than is decoded in one turn of the loop.
            let text = Data("version \(number) ".utf8) + Data(count: 1_500_000)
            return ServerReply.data(Coded.gzip(text)).header("Content-Encoding", "gzip").header("ETag", "\"\(number)\"")
                .header("Cache-Control", "max-age=0, stale-while-revalidate=1000")
        }
        let session = URLSession.loopback { $0.urlCache = URLCache(memoryCapacity: 100 << 20, diskCapacity: 0) }
        func load() async throws -> String {
            let outcome = try await session.outcome(of: server.url("/1"))
            #expect(outcome.data?.count == 1_500_010)
            await session.settled()
            return String(decoding: (outcome.data ?? Data()).prefix(9), as: UTF8.self)
        }

        #expect(try await load() == "version 1")
        #expect(try await load() == "version 1")
        try await server.waitForRequests(2)
        let end = ContinuousClock.now + .seconds(60)
        while try await load() == "version 1", ContinuousClock.now < end {}
        #expect(try await load() != "version 1")
    }

    @Test func `a coded response that cannot be decoded in the background is not stored`() async throws {
        let isBroken = Lock(false)
        server.route("GET", "/1") { _ in
            let body = isBroken.withLock { $0 } ? Data("no gzip".utf8) : Coded.gzip(Data("good".utf8))
            return ServerReply.data(body).header("Content-Encoding", "gzip").header("ETag", "\"1\"")
                .header("Cache-Control", "max-age=0, stale-while-revalidate=1000")
        }
        _ = try await session.outcome(of: server.url("/1"))
        await session.settled()
        isBroken.withLock { $0 = true }

        for number in 2...3 {
            #expect(try await session.outcome(of: server.url("/1")).text == "good")
            try await server.waitForRequests(number)
            await session.settled()
        }
    }

    @Test func `RFC 9111 §4.3.5 a response to HEAD removes the outdated responses that it is about, and no others`()
        async throws
    {
        let tag = Lock("1")
        server.route("*", "/1") { [self] request in
            let language = request.headers["Accept-Language"] ?? ""
            return fresh(.text(language)).header("Vary", "Accept-Language")
                .header("ETag", "\"\(language)\(tag.withLock { $0 })\"")
        }
        func load(_ method: String, _ language: String) async throws {
            let request = URLRequest(
                method,
                server.url("/1"),
                fields: ["Accept-Language": language, "Cache-Control": method == "HEAD" ? "no-cache" : "max-stale"]
            )
            _ = try await session.outcome(of: request)
            await session.settled()
        }
        for language in ["de", "en"] { try await load("GET", language) }
        tag.withLock { $0 = "2" }
        try await load("HEAD", "en")
        server.forgetRequests()

        for language in ["de", "en"] { try await load("GET", language) }
        #expect(server.requests.map { $0.headers["Accept-Language"] } == ["en"])
    }

    @Test func `RFC 9111 §4.4 a change outdates what is stored, though its task ends before the delegate answers`()
        async throws
    {
        server.route("GET", "/1", fresh(.text("old")))
        server.route("POST", "/1", ServerReply.status(303).header("Location", "/2"))
        let asked = Watched(false)
        let session = URLSession.loopback(delegate: RedirectDelegate { _, _, _ in asked.change { $0 = true } })
        _ = try await session.outcome(of: server.url("/1"))
        await session.settled()
        let post = session.dataTask(with: URLRequest("POST", server.url("/1")))
        post.resume()
        try await asked.wait("the question") { $0 }
        post.cancel()

        _ = try await session.outcome(of: server.url("/1"))
        #expect(server.requests.map(\.method) == ["GET", "POST", "GET"])
    }

    @Test(arguments: [false, true])
    func `T-CAC-12 a body that was cut off at any byte, or cancelled there, is not stored`(cancels: Bool) {
        let body = "complete"
        for count in 0..<body.utf8.count {
            let world = VirtualWorld()
            let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=100\r\nContent-Length: 8\r\n\r\n"
            world.scripts(
                "a.test",
                [
                    [.expectRequest, .reply(head + body.prefix(count)), cancels ? .stall : .close],
                    [.expectRequest, .reply(head + body), .again],
                ]
            )
            let cut = world.get("http://a.test/")
            world.run(limit: .seconds(5)) { cut.isComplete }
            cut.task.cancel()
            world.run { cut.isComplete }
            #expect(cut.error != nil)

            #expect(world.load("http://a.test/").body == body)
            #expect(world.network.connections.count == 2)
            #expect(world.load("http://a.test/").body == body)
            #expect(world.network.connections.count == 2)
            #expect(world.finish() == [])
        }
    }

    @Test func `T-CAC-12 a body that could not be decoded, or is a part, is not stored`() async throws {
        let gzip = Coded.gzip(Data("complete".utf8))
        server.enqueue(
            fresh(.data(gzip.dropLast(4))).header("Content-Encoding", "gzip"),
            fresh(.data(gzip)).header("Content-Encoding", "gzip")
        )
        #expect(try await session.outcome(of: server.url("/1")).error?.code == .cannotDecodeRawData)
        await session.settled()
        #expect(try await session.outcome(of: server.url("/1")).text == "complete")

        server.enqueue(fresh(.text("part").status(206)).header("Content-Range", "bytes 0-3/8"), .text("whole"))
        let range = URLRequest("GET", server.url("/2"), fields: ["Range": "bytes=0-3"])
        #expect(try await session.outcome(of: range).text == "part")
        await session.settled()
        #expect(try await session.outcome(of: server.url("/2")).text == "whole")
    }

    @Test func `T-CAC-28 a response that a lax session stored does not answer a strict one`() async throws {
        let site = try SecuredSite()
        site.server.route("GET", "/1", fresh(.text("lax")))
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        func session(_ evaluator: any ServerEvaluator) -> URLSession {
            var tls = site.tls
            tls.evaluator = evaluator
            return .loopback { [tls] in
                $0.tls = tls
                $0.urlCache = cache
            }
        }
        let url = site.server.url("/1")
        let lax = session(FixedEvaluator.accepting)
        #expect(try await lax.outcome(of: url).text == "lax")
        await lax.settled()
        #expect(try await lax.outcome(of: url).text == "lax" && site.server.requests.count == 1)

        for policy in [
            URLRequest.CachePolicy.useProtocolCachePolicy, .returnCacheDataElseLoad, .returnCacheDataDontLoad,
        ] {
            var request = URLRequest(url: url)
            request.cachePolicy = policy
            let outcome = try await session(FixedEvaluator.refusing).outcome(of: request)
            #expect(outcome.data == nil && outcome.error != nil, "\(policy): \(outcome)")
        }
    }

    @Test(arguments: [0, 5, 3000, 200_000])
    func `T-CAC-29 a coded response is the same from the cache as from the network`(size: Int) async throws {
        let content = Coded.text(size)
        server.route(
            "GET",
            "/1",
            fresh(.data(Coded.gzip(content), type: "text/plain")).header("Content-Encoding", "gzip")
        )
        var outcomes: [Outcome] = []
        for _ in 1...3 {
            outcomes.append(try await session.outcome(of: server.url("/1")))
            await session.settled()
        }

        #expect(server.requests.count == 1)
        for outcome in outcomes {
            #expect(outcome.data == content && outcome.response?.expectedContentLength == -1)
            #expect(outcome.response?.value(forHTTPHeaderField: "Content-Encoding") == "gzip")
            let names = outcome.response?.headerFields.map(\.name)
            #expect(names?.filter { $0 != "Age" } == outcomes[0].response?.headerFields.map(\.name))
        }
    }

    @Test func `T-CAC-31 a request for the cache only never uses the network`() async throws {
        server.route("GET", "/on", fresh(.status(301)).header("Location", "/end"))
        server.route("GET", "/end", ServerReply.text("end").header("Cache-Control", "no-store"))
        var request = URLRequest(url: server.url("/1"))
        request.cachePolicy = .returnCacheDataDontLoad
        let configured = URLSession.loopback { $0.requestCachePolicy = .returnCacheDataDontLoad }
        let bare = URLSession.loopback { $0.urlCache = nil }
        let asking = URLRequest("GET", server.url("/1"), fields: ["Cache-Control": "only-if-cached"])
        let posting = URLRequest("POST", server.url("/1"), body: Data("x".utf8))

        for outcome in [
            try await session.outcome(of: request), try await bare.outcome(of: request),
            try await configured.outcome(of: server.url("/1")), try await session.outcome(of: asking),
            try await bare.outcome(of: asking), try await configured.outcome(of: posting),
        ] {
            #expect(outcome.error?.code == .resourceUnavailable && outcome.reason == .cache, "\(outcome)")
        }
        #expect(server.acceptedConnections == 0)

        // Also behind a redirect that is there.
        #expect(try await session.outcome(of: server.url("/on")).text == "end")
        await session.settled()
        request.url = server.url("/on")
        #expect(try await session.outcome(of: request).error?.code == .resourceUnavailable)
        #expect(server.requests.count == 2)
    }
}
