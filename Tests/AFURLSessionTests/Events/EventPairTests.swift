@testable import AFURLSession
@testable import AFURLTypes

/// What else a session has, and streams of events: each pair against a real server on the loopback interface.
@Suite(.serialized)
struct EventPairTests {
    let server: TestServer
    private let session = URLSession.loopback()

    init() throws {
        server = try TestServer()
    }

    /// Connects again after an hour.
    private var slow: EventStreamOptions {
        var options = EventStreamOptions()
        (options.initialDelay, options.maximumDelay) = (.seconds(3600), .seconds(3600))
        return options
    }

    private let once = EventStreamOptions(reconnection: .never)

    /// The data of a stream that ends without an error.
    private func data(of stream: EventStream) async throws -> [String] {
        var data: [String] = []
        for try await event in stream { data.append(event.data) }
        return data
    }

    /// Waits until the session has no task.
    private func waitUntilIdle(_ session: URLSession) async throws {
        let tasks = Watched(1)
        try await eventually("the end of all tasks") {
            session.getAllTasks { all in tasks.change { $0 = all.count } }
            return tasks.value == 0
        }
    }

    private func error(of stream: EventStream) async -> URLError? {
        await #expect(throws: URLError.self) { for try await _ in stream {} }
    }

    private func fields(_ name: String, of server: TestServer? = nil) -> [String?] {
        (server ?? self.server).requests.map { $0.headers[name] }
    }

    /// Answers the first request with an event, and those behind it with the end of the stream.
    private func serveOneEvent(_ change: @escaping @Sendable (ServerReply) -> ServerReply) {
        server.route("GET", "/events") { request in
            change(request.headers["Last-Event-ID"] == nil ? .events("id: 1\ndata: a") : .status(204))
        }
    }

    // MARK: - Trust

    @Test func `T-SSE-09 a server that the rules refuse gets no request, and is not asked again`() async throws {
        let site = try SecuredSite()
        site.server.route("GET", "/events", .events("data: a"))
        let session = site.session { $0.evaluator = FixedEvaluator.refusing }

        let error = await error(of: session.events(from: site.server.url("/events"), options: .quick))

        #expect(error?.code == .serverCertificateUntrusted && error?.loadFailure?.security?.rule == "pins of the test")
        #expect(site.server.requests.isEmpty && site.server.connections.count == 1)
        let trusted = site.session { $0.evaluator = FixedEvaluator.accepting }
        #expect(try await data(of: trusted.events(from: site.server.url("/events"), options: once)) == ["a"])
    }

    @Test func `T-SSE-09 rules that have changed judge the server when the stream connects again`() async throws {
        let site = try SecuredSite()
        site.server.route("GET", "/events", .events("id: 1\ndata: a"))
        let session = site.session { $0.evaluator = FixedEvaluator.accepting }
        var events = session.events(from: site.server.url("/events"), options: .quick).makeAsyncIterator()

        #expect(try await events.next()?.data == "a")
        session.tls.evaluator = FixedEvaluator.refusing
        let error = await #expect(throws: URLError.self) { try await events.next() }

        #expect(error?.loadFailure?.reason == .trust && site.server.requests.count == 1)
    }

    // MARK: - Interceptors

    @Test func `a token is added to each request, and renewed when the server refuses it`() async throws {
        // The server accepts the first renewed token for the first event only.
        server.route("GET", "/events") { request in
            switch (request.headers["Authorization"], request.headers["Last-Event-ID"]) {
            case ("Bearer 1", nil): .events("id: 7\ndata: a")
            case ("Bearer 2", "7"): .status(204)
            default: .status(401)
            }
        }
        let tokens = try TokenInterceptor(for: [server.url("/")], token: "0") { old in
            "\((old.flatMap(Int.init) ?? 0) + 1)"
        }
        let session = URLSession.loopback { $0.requestInterceptors = [tokens] }

        #expect(try await data(of: session.events(from: server.url("/events"), options: .quick)) == ["a"])

        #expect(fields("Authorization") == ["Bearer 0", "Bearer 1", "Bearer 1", "Bearer 2"])
        #expect(fields("Last-Event-ID") == [nil, nil, "7", "7"])
    }

    @Test func `interceptors send the request again before the stream hears of a status`() async throws {
        server.enqueue(.status(503), .events("data: a"), .status(204))
        var rules = RetryRules()
        rules.baseDelay = .milliseconds(1)
        let session = URLSession.loopback { [rules] in $0.requestInterceptors = [rules] }

        #expect(try await data(of: session.events(from: server.url("/events"), options: .quick)) == ["a"])
    }

    @Test func `the error of an interceptor ends the stream, and nothing is sent`() async throws {
        struct LoggedOut: Error {}
        let session = URLSession.loopback {
            $0.requestInterceptors = [AdaptingInterceptor { _, _ in throw LoggedOut() }]
        }
        let stream = session.events(from: server.url("/events"), options: .quick)

        await #expect(throws: LoggedOut.self) { for try await _ in stream {} }
        #expect(server.requests.isEmpty)
    }

    // MARK: - Cookies and credentials

    @Test func `a cookie of the first response goes with the request that connects again`() async throws {
        serveOneEvent { $0.header("Set-Cookie", "node=3") }
        let session = URLSession.loopback { $0.httpCookieStorage = HTTPCookieStorage() }

        #expect(try await data(of: session.events(from: server.url("/events"), options: .quick)) == ["a"])

        #expect(fields("Cookie") == [nil, "node=3"] && fields("Last-Event-ID") == [nil, "1"])
    }

    @Test(arguments: [true, false])
    func `a credential answers the server, and goes along when the stream connects again`(isStored: Bool) async throws {
        server.route("GET", "/events") { request in
            guard request.headers["Authorization"] == "Basic bWU6c2VjcmV0" else {
                return .status(401).header("WWW-Authenticate", "Basic realm=\"r\"")
            }
            return request.headers["Last-Event-ID"] == nil ? .events("id: 1\ndata: a") : .status(204)
        }
        let storage = URLCredentialStorage()
        if isStored {
            let space = URLProtectionSpace(
                host: "127.0.0.1",
                port: Int(server.port),
                protocol: "http",
                realm: "r",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic
            )
            storage.setDefaultCredential(.user("me", "secret"), for: space)
        }
        let witness = Witness {
            if !isStored { $0.challenge = URLSession.AuthChallengeDisposition.password("me", "secret") }
        }
        let session = URLSession.loopback { $0.urlCredentialStorage = storage }
        let stream = session.events(for: URLRequest(url: server.url("/events")), options: .quick, delegate: witness)

        #expect(try await data(of: stream) == ["a"])

        #expect(fields("Authorization").map { $0 != nil } == [false, true, true])
        #expect(fields("Last-Event-ID") == [nil, nil, "1"])
    }

    // MARK: - Redirects

    @Test func `T-RED-01 T-RED-04 secrets stay in their origin, and the last identifier follows`() async throws {
        let other = try TestServer()
        other.route("GET", "/events") { request in
            request.headers["Last-Event-ID"] == nil ? .events("id: 1\ndata: a") : .status(204)
        }
        let target = other.url("/events", host: "localhost").absoluteString
        server.route("GET", "/events", ServerReply.status(307).header("Location", target))
        var request = URLRequest(url: server.url("/events"))
        request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
        request.setValue("a=secret", forHTTPHeaderField: "Cookie")

        let session = URLSession.loopback { $0.httpCookieStorage = nil }
        #expect(try await data(of: session.events(for: request, options: .quick)) == ["a"])

        // Each time the stream connects, it asks the URL of its request.
        #expect(fields("Authorization") == ["Bearer secret", "Bearer secret"])
        #expect(fields("Last-Event-ID") == [nil, "1"])
        #expect(fields("Authorization", of: other) == [nil, nil] && fields("Cookie", of: other) == [nil, nil])
        // The server that has given the identifier needs it, as with fetch.
        #expect(fields("Last-Event-ID", of: other) == [nil, "1"])
        #expect(fields("Accept", of: other) == ["text/event-stream", "text/event-stream"])
    }

    @Test func `T-RED-08 a policy keeps the identifier of the last event in its origin`() async throws {
        let other = try TestServer()
        other.route("GET", "/events", .events("data: a"))
        let target = other.url("/events", host: "localhost").absoluteString
        server.route("GET", "/events", ServerReply.status(307).header("Location", target))
        var options = once
        options.lastEventID = "7"
        let session = URLSession.loopback { $0.redirectPolicy.sensitiveFields = ["Last-Event-ID"] }

        #expect(try await data(of: session.events(from: server.url("/events"), options: options)) == ["a"])

        #expect(fields("Last-Event-ID") == ["7"] && fields("Last-Event-ID", of: other) == [nil])
    }

    @Test func `a redirect that the delegate refuses ends the stream with its status`() async throws {
        server.route("GET", "/events", ServerReply.status(307).header("Location", "/elsewhere"))
        let witness = Witness { $0.redirect = { _, _, done in done(nil) } }
        let stream = URLSession.loopback(delegate: witness).events(from: server.url("/events"), options: .quick)

        let failure = await error(of: stream)?.loadFailure

        #expect(failure?.detail == .status && failure?.message.contains("307") == true && server.requests.count == 1)
    }

    // MARK: - The cache

    /// Answers streams with an event and other requests with a page, and lets the cache store both.
    private func serveStorable() {
        server.route("GET", "/events") { request in
            let asksForEvents = request.headers["Accept"] == "text/event-stream"
            let reply = ServerReply.text(asksForEvents ? "data: a\n\n" : "page", type: "text/event-stream")
            return reply.header("Cache-Control", "max-age=1000")
        }
    }

    @Test(arguments: [nil, "no-cache", "no-store", "max-age=1000"])
    func `the cache does not store a stream, whatever the request says of caches`(control: String?) async throws {
        serveStorable()
        let session = URLSession.loopback {
            $0.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, directory: nil)
        }
        var request = URLRequest(url: server.url("/events"))
        request.setValue(control, forHTTPHeaderField: "Cache-Control")
        request.cachePolicy = .returnCacheDataElseLoad

        #expect(try await data(of: session.events(for: request, options: once)) == ["a"])
        #expect(try await session.outcome(of: server.url("/events")).text == "page")

        #expect(server.requests.first?.headers["Cache-Control"] == control ?? "no-cache")
    }

    @Test func `the cache does not answer for a stream, and keeps what it has`() async throws {
        serveStorable()
        let session = URLSession.loopback {
            $0.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, directory: nil)
            $0.requestCachePolicy = .returnCacheDataElseLoad
        }

        #expect(try await session.outcome(of: server.url("/events")).text == "page")
        #expect(try await data(of: session.events(from: server.url("/events"), options: once)) == ["a"])
        #expect(try await session.outcome(of: server.url("/events")).text == "page")

        #expect(server.requests.count == 2)
    }

    // MARK: - Content codings

    @Test func `T-SSE-05 an event of a compressed stream is returned when the server has flushed it`() async throws {
        func flushed(_ text: String) -> [UInt8] { Array(Coded.flushed(Data(text.utf8))) }
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n\r\n"
        let gzipHead: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
        server.script(
            .expectHead,
            .send(bytes: Array(head.utf8) + gzipHead + flushed("data: a\n\n")),
            .pause(until: "second"),
            .send(bytes: flushed("data: b\n\nda")),
            .pause(until: "third"),
            .send(bytes: flushed("ta: c\n\n")),
            .stall
        )
        var events = URLSession.loopback().events(from: server.url("/events"), options: once).makeAsyncIterator()

        #expect(try await events.next()?.data == "a")
        server.signal("second")
        #expect(try await events.next()?.data == "b")
        server.signal("third")
        #expect(try await events.next()?.data == "c")
        #expect(fields("Accept-Encoding").first??.contains("gzip") == true)
    }

    @Test func `T-SSE-05 a compressed stream that breaks off connects again`() async throws {
        let flushed = Array(Coded.flushed(Data("id: 7\ndata: a\n\n".utf8)))
        let gzipHead: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n\r\n"
        server.script(.expectHead, .send(bytes: Array(head.utf8) + gzipHead + flushed), .close)
        server.route("GET", "/events", .status(204))

        #expect(try await data(of: URLSession.loopback().events(from: server.url("/events"), options: .quick)) == ["a"])
        #expect(fields("Last-Event-ID") == [nil, "7"])
    }

    // MARK: - Proxies

    @Test(arguments: [true, false])
    func `T-SSE-05 a proxy passes each event on, and each connection of the stream`(isSecured: Bool) async throws {
        let site = try SecuredSite()
        let server = isSecured ? site.server : server
        let proxy = try TestProxy()
        server.script(
            .expectHead,
            .send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nid: 1\ndata: a\n\n"),
            .pause(until: "second"),
            .send("id: 2\ndata: b\n\n")
        )
        server.route("GET", "/events", .status(204))
        var proxies = ProxyConfiguration(try ProxyServer("http://me:secret@127.0.0.1:\(proxy.port)"))
        proxies.includesLoopback = true
        let session = URLSession.loopback { [proxies] in
            $0.proxies = proxies
            $0.tls.anchors = .certificates([site.authority.certificate])
        }
        var events = session.events(from: server.url("/events"), options: .quick).makeAsyncIterator()

        #expect(try await events.next()?.data == "a")
        server.signal("second")
        #expect(try await events.next()?.data == "b")
        #expect(try await events.next() == nil)

        #expect(proxy.requests.map(\.method) == Array(repeating: isSecured ? "CONNECT" : "GET", count: 2))
        #expect(fields("Last-Event-ID", of: server) == [nil, "2"])
        #expect(fields("Proxy-Authorization", of: server) == [nil, nil])
    }

    // MARK: - Suspending

    @Test func `a task that is suspended brings no event until it is resumed`() async throws {
        server.script(
            .expectHead,
            .send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: a\n\n"),
            .pause(until: "second"),
            .send("data: b\n\n")
        )
        server.route("GET", "/hello", .text("hello"))
        let stream = session.events(from: server.url("/events"), options: once)
        let seen = Watched<[String]>([])
        let reading = Task {
            for try await event in stream { seen.change { $0.append(event.data) } }
        }
        try await seen.wait("the first event") { $0 == ["a"] }

        let task = try #require(await session.allTasks.first)
        task.suspend()
        await session.settled()
        let before = try #require(server.connections.first).bytesSent
        server.signal("second")
        try await eventually("the second event") { server.connections.first.map { $0.bytesSent > before } == true }
        // The loop has looked at all sockets by the time it has loaded something else.
        #expect(try await session.outcome(of: server.url("/hello")).text == "hello")
        #expect(seen.value == ["a"])

        task.resume()
        try await reading.value
        #expect(seen.value == ["a", "b"])
    }

    @Test func `a delegate queue that is suspended holds the closures back, and loses no event`() async throws {
        server.enqueue(.events("data: a", "data: b"), .status(204))
        session.delegateQueue.isSuspended = true
        let words = Watched<[String]>([])
        let source = EventStreamReader(URLRequest(url: server.url("/events")), session: session, options: .quick) {
            event in
            words.change { $0.append(event.data) }
        } completion: { error in
            words.change { $0.append(error == nil ? "end" : "error") }
        }
        source.resume()

        // The first event waits in the queue, and the stream does not read on.
        try await eventually("a call in the queue") { session.delegateQueue.operationCount == 1 }
        #expect(words.value.isEmpty && server.requests.count == 1)
        session.delegateQueue.isSuspended = false
        #expect(try await words.wait("the end") { $0.last == "end" } == ["a", "b", "end"])
    }

    // MARK: - The end of the session

    @Test(arguments: [true, false])
    func `invalidating the session ends a stream that waits to connect again`(isCancelling: Bool) async throws {
        server.route("GET", "/events", .events("data: a"))
        let witness = Witness()
        let session = URLSession.loopback(delegate: witness)
        let (seen, end) = (Watched(0), Watched<URLError?>(nil))
        let source = EventStreamReader(URLRequest(url: server.url("/events")), session: session, options: slow) { _ in
            seen.change { $0 += 1 }
        } completion: { error in
            end.change { $0 = error as? URLError }
        }
        source.resume()
        try await seen.wait("the event") { $0 == 1 }
        try await waitUntilIdle(session)

        if isCancelling { session.invalidateAndCancel() } else { session.finishTasksAndInvalidate() }

        let error = try await end.wait("the end") { $0 != nil }
        #expect(error?.code == .cancelled && error?.loadFailure?.detail == .invalidated)
        try await witness.words.wait("the end of the session") { $0.contains("invalid") }
        #expect(server.requests.count == 1)
    }

    @Test func `a session that finishes its tasks lets the response end, and no other begin`() async throws {
        server.script(
            .expectHead,
            .send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: a\n\n"),
            .pause(until: "second"),
            .send("data: b\n\n")
        )
        var events = session.events(from: server.url("/events"), options: slow).makeAsyncIterator()
        #expect(try await events.next()?.data == "a")

        session.finishTasksAndInvalidate()
        server.signal("second")

        #expect(try await events.next()?.data == "b")
        let error = await #expect(throws: URLError.self) { try await events.next() }
        #expect(error?.loadFailure?.detail == .invalidated && server.connections.count == 1)
    }

    @Test func `cancelling the session's tasks ends a stream that reads`() async throws {
        server.route("GET", "/events", ServerReply.events("data: a", "data: b").stalling(after: 14))
        var events = session.events(from: server.url("/events"), options: .quick).makeAsyncIterator()
        #expect(try await events.next()?.data == "a")

        session.invalidateAndCancel()

        let error = await #expect(throws: URLError.self) { try await events.next() }
        #expect(error?.code == .cancelled && server.requests.count == 1)
    }
}
