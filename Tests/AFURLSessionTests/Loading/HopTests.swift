import Dispatch

@testable import AFURLSession
@testable import AFURLTypes

/// What a task carries from one exchange to the next, and what it must not.
@Suite("From one exchange to the next")
struct HopTests {
    private let server: TestServer
    private let other: TestServer

    init() throws {
        server = try TestServer()
        other = try TestServer()
        server.install(.authentication, .compression)
        for server in [server, other] {
            server.route("*", "/see") { .text("\($0.headers["Authorization"] ?? "-") \($0.bodyText)") }
        }
    }

    // MARK: - Held responses

    @Test func `a coded body that was held back is decoded once no step holds it back`() async throws {
        let coded = ServerReply.text(String(repeating: "who are you? ", count: 2000)).compressed(.gzip)
        server.route("GET", "/401", coded.status(401).header("WWW-Authenticate", "Basic realm=\"r\""))
        server.route("GET", "/302", coded.status(302).header("Location", "/see"))
        let refusing = RedirectDelegate { _, _, completion in completion(nil) }
        let session = URLSession.loopback(delegate: refusing)

        for path in ["/401", "/302"] {
            let outcome = try await session.outcome(of: server.url(path))
            #expect(outcome.text?.hasPrefix("who are you? who") == true, "\(path)")
        }
    }

    // MARK: - Suspended tasks

    @Test func `a task that is suspended while it waits for a connection lets others go before it`() {
        let world = VirtualWorld()
        world.configure { $0.httpMaximumConnectionsPerHost = 1 }
        let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        world.script("a.test", .expectRequest, .delay(.seconds(1)), .reply(ok), .again)
        let session = world.session
        let order = Lock<[String]>([])
        let tasks = ["first", "suspended", "last"].map { name in
            var request = URLRequest(url: URL(string: "http://a.test/\(name)")!)
            if name == "suspended" {
                request.httpMethod = "POST"
                request.httpBody = Data("body".utf8)
            }
            return session.dataTask(with: request) { _, _, error in
                order.withLock { $0.append(error == nil ? name : "\(name) failed") }
            }
        }
        for task in tasks { task.resume() }
        world.settle()

        tasks[1].suspend()
        world.advance(by: .seconds(300))
        #expect(order.withLock { $0 } == ["first", "last"])
        #expect(tasks[1].countOfBytesSent == 0)

        tasks[1].resume()
        world.run { order.withLock { $0.count } == 3 }
        #expect(order.withLock { $0 }.last == "suspended")
        #expect(world.finish() == [])
    }

    @Test func `the time in the queue goes on after a suspension`() {
        let world = VirtualWorld()
        world.configure {
            $0.httpMaximumConnectionsPerHost = 1
            $0.queueTimeout = 5
        }
        world.script("a.test", .expectRequest, .stall)
        let url = URL(string: "http://a.test/")!
        let first = world.session.dataTask(with: url)
        let last = world.session.dataTask(with: url)
        first.resume()
        last.resume()
        world.advance(by: .seconds(1))

        last.suspend()
        world.advance(by: .seconds(27))
        last.resume()
        world.advance(by: .seconds(3.5))
        #expect(last.state == .running)
        world.advance(by: .seconds(1))

        #expect((last.error as? URLError)?.loadFailure?.detail == .queue)
        first.cancel()
        #expect(world.finish() == [])
    }

    @Test func `a task that is suspended while it connects sends nothing until it is resumed`() {
        let world = VirtualWorld()
        world.network.link.latency = 100_000_000...100_000_000
        world.configure { $0.httpMaximumConnectionsPerHost = 1 }
        let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        let isAsked = Lock(false)
        world.script("a.test", .expectRequest, .reply(ok), .again)
        var request = URLRequest(url: URL(string: "http://a.test/")!)
        request.httpMethod = "POST"
        request.httpBody = Data("body".utf8)
        let task = world.session.dataTask(with: request) { _, _, _ in isAsked.withLock { $0 = true } }
        task.resume()
        world.settle()

        task.suspend()
        let other = world.get("http://a.test/other")
        world.advance(by: .seconds(300))
        #expect(task.countOfBytesSent == 0 && !isAsked.withLock { $0 })
        // It does not keep the connection from others.
        #expect(other.all == [.response(200), .data(2), .finished])

        task.resume()
        world.run { task.state == .completed }
        #expect((task.response as? HTTPURLResponse)?.statusCode == 200)
        #expect(world.finish() == [])
    }

    private struct Pinning: ServerEvaluator {
        func evaluate(_ trust: ServerTrust) -> ServerTrustDecision {
            .reject(rule: "test", explanation: "none is right")
        }
        func forbidsPlainText(to host: String) -> Bool { true }
    }

    @Test(arguments: [false, true])
    func `T-TLS-20 a request that waits goes nowhere in the clear once its host is pinned`(isSuspended: Bool) {
        let world = VirtualWorld()
        world.configure { $0.httpMaximumConnectionsPerHost = 1 }
        let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        world.script("a.test", .expectRequest, .delay(.seconds(1)), .reply(ok), .again)
        let first = world.get("http://a.test/")
        let waiting = world.session.dataTask(with: URL(string: "http://a.test/secret")!)
        waiting.resume()
        world.settle()
        if isSuspended { waiting.suspend() }

        world.session.tls.evaluator = Pinning()
        world.advance(by: .seconds(10))
        if isSuspended { waiting.resume() }
        world.run { waiting.state == .completed }

        #expect(first.all == [.response(200), .data(2), .finished])
        #expect((waiting.error as? URLError)?.code == .unsupportedURL && waiting.countOfBytesSent == 0)
        #expect(world.finish() == [])
    }

    @Test(arguments: [false, true])
    func `T-STS-05 a request that waits goes over TLS once its host asks for it`(isSuspended: Bool) throws {
        let hosts = HSTSStore()
        let world = VirtualWorld()
        world.configure {
            $0.httpMaximumConnectionsPerHost = 1
            $0.strictTransportSecurity = hosts
        }
        world.host("a.test", "192.0.2.1")
        let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        world.script("a.test", .expectRequest, .delay(.seconds(1)), .reply(ok), .again)
        let first = world.get("http://a.test/")
        let waiting = world.session.dataTask(with: URL(string: "http://a.test/secret")!)
        waiting.resume()
        world.settle()
        if isSuspended { waiting.suspend() }

        hosts.insert(try #require(HSTSStore.Entry(host: "a.test", includesSubdomains: false, expires: .distantFuture)))
        world.set(.refuses(), for: "192.0.2.1")
        world.advance(by: .seconds(10))
        if isSuspended { waiting.resume() }
        world.run { waiting.state == .completed }

        #expect(first.all == [.response(200), .data(2), .finished])
        #expect(waiting.currentRequest?.url?.absoluteString == "https://a.test/secret")
        #expect((waiting.error as? URLError)?.code == .cannotConnectToHost && waiting.countOfBytesSent == 0)
        let heads = world.network.connections.map { String(decoding: $0.received, as: UTF8.self) }
        #expect(heads.allSatisfy { !$0.contains("secret") })
        #expect(world.finish() == [])
    }

    @Test func `what the cache found before a suspension does not answer after it`() async throws {
        let folder = try ScratchFolder()
        server.route("GET", "/kept", ServerReply.text("kept").header("Cache-Control", "max-age=1000"))
        func session() -> URLSession {
            .loopback { $0.urlCache = URLCache(memoryCapacity: 0, diskCapacity: 4 << 20, directory: folder.url) }
        }
        let first = session()
        _ = try await first.outcome(of: server.url("/kept"))
        _ = first.configuration.urlCache?.currentDiskUsage

        let second = session()
        let outcomes = Outcomes()
        let task = second.dataTask(with: server.url("/kept"), completionHandler: outcomes.handler)
        // The loop begins the task and hears of the suspension in one turn, before the disk can answer.
        let gate = DispatchSemaphore(value: 0)
        second.world.enqueue { gate.wait() }
        task.resume()
        task.suspend()
        gate.signal()
        await second.settled()
        second.configuration.urlCache?.removeAllCachedResponses()
        task.resume()

        #expect(try await outcomes.first().text == "kept")
        #expect(server.requests.count == 2)
    }

    // MARK: - Bodies

    @Test func `a body that is sent again is not held up by the end of the former answer`() throws {
        let world = VirtualWorld()
        let folder = try ScratchFolder()
        let file = try folder.file(pattern(1_000_000))
        // What is missing of the redirect comes while the body is on its way again, and waits.
        world.scripts(
            "a.test",
            [
                [
                    .expectRequest, .reply("HTTP/1.1 307 There\r\nLocation: /b\r\nContent-Length: 5\r\n\r\n12"),
                    .delay(.milliseconds(50)), .reply("345"), .stall,
                ],
                [
                    .stopReading, .delay(.milliseconds(200)), .startReading, .expectRequest,
                    .reply("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .stall,
                ],
            ]
        )
        let (session, _) = world.makeSession()
        let request = URLRequest("PUT", try #require(URL(string: "http://a.test/a")))
        let task = session.uploadTask(with: request, fromFile: file)
        task.resume()

        #expect(world.run(limit: .seconds(5)) { task.state == .completed })
        #expect(task.error == nil && (task.response as? HTTPURLResponse)?.statusCode == 200)
        #expect(world.finish() == [])
    }

    @Test func `an upload's own body is sent on every hop, whatever its request holds`() async throws {
        server.route("PUT", "/1", ServerReply.status(307).header("Location", "/see"))
        let request = URLRequest("PUT", server.url("/1"), body: Data("the request's".utf8))

        let (data, _) = try await URLSession.loopback().upload(for: request, from: Data("the task's".utf8))

        #expect(String(decoding: data, as: UTF8.self) == "- the task's")
        #expect(server.requests.map(\.bodyText) == ["the task's", "the task's"])
    }

    @Test func `an answer without a body does not cost its connection, whatever it announces`() async throws {
        server.route("HEAD", "/1", ServerReply.status(302).header("Location", "/2").header("Content-Length", "900000"))
        server.route("HEAD", "/2", .text("x"))

        #expect(try await URLSession.loopback().outcome(of: URLRequest("HEAD", server.url("/1"))).status == 200)
        #expect(server.acceptedConnections == 1)
    }

    // MARK: - Delegates

    @Test func `T-RED-01 a delegate that sends a redirect elsewhere does not take secrets along`() async throws {
        server.route("GET", "/1", ServerReply.status(302).header("Location", "/2"))
        let target = other.url("/see")
        let delegate = RedirectDelegate { _, request, completion in
            var request = request
            request.url = target
            completion(request)
        }
        let session = URLSession.loopback(delegate: delegate) { $0.httpAdditionalHeaders = ["X-Api-Key": "canary"] }
        let request = URLRequest("GET", server.url("/1"), fields: ["Authorization": "canary", "X-Plain": "1"])

        #expect(try await session.outcome(of: request).text == "- ")
        let head = String(decoding: try #require(other.requests.first).rawHead, as: UTF8.self)
        #expect(!head.contains("canary") && head.contains("X-Plain: 1"))

        let own = RedirectDelegate { _, request, completion in
            var request = request
            request.url = target
            request.setValue("for you", forHTTPHeaderField: "Authorization")
            completion(request)
        }
        #expect(try await URLSession.loopback(delegate: own).outcome(of: request).text == "for you ")
    }

    @Test func `T-RED-09 a delegate cannot lead from https to http where the policy forbids it`() async throws {
        let site = try SecuredSite()
        site.server.route("GET", "/1", ServerReply.status(302).header("Location", "/hello"))
        let target = other.url("/see")
        let delegate = RedirectDelegate { _, _, completion in completion(URLRequest(url: target)) }

        let outcome = try await site.session(delegate: delegate).outcome(of: site.server.url("/1", host: "localhost"))

        #expect(outcome.error?.code == .unsupportedURL && other.acceptedConnections == 0)
    }

    // MARK: - The cache

    private func cached(
        _ delegate: (any URLSessionDelegate)? = nil,
        _ configure: (URLSessionConfiguration) -> Void = { _ in }
    ) -> URLSession {
        URLSession.loopback(delegate: delegate) { configuration in
            configuration.urlCache = URLCache(memoryCapacity: 4 << 20, diskCapacity: 0)
            configure(configuration)
        }
    }

    @Test func `a fresh answer comes from the cache, and says so`() async throws {
        server.route("GET", "/fresh", ServerReply.text("fresh").header("Cache-Control", "max-age=86400"))
        let delegate = EventLog()
        let session = cached(delegate)
        for count in 1...2 {
            session.dataTask(with: server.url("/fresh")).resume()
            let events = try await delegate.finished(count)
            #expect(events.suffix(4) == [.response(200), .data("fresh"), .metrics, .completed(nil)])
        }

        #expect(server.requests.count == 1)
        let metrics = try #require(delegate.metrics.withLock { $0 })
        #expect(metrics.transactionMetrics.map(\.resourceFetchType) == [.localCache])
    }

    @Test func `a stale answer is asked about, and served if nothing has changed`() async throws {
        server.route("GET", "/tag") { request in
            if request.headers["If-None-Match"] == "\"1\"" { return ServerReply.status(304).header("ETag", "\"1\"") }
            return ServerReply.text("tagged").header("ETag", "\"1\"").header("Cache-Control", "no-cache")
        }
        let session = cached()

        #expect(try await session.outcome(of: server.url("/tag")).text == "tagged")
        let second = try await session.outcome(of: server.url("/tag"))
        #expect(second.text == "tagged" && second.status == 200)
        #expect(server.requests.map { $0.headers["If-None-Match"] } == [nil, "\"1\""])
        #expect(server.acceptedConnections == 1)
    }

    @Test func `T-CAC-11 a response that must not be stored replaces the stored one`() async throws {
        let isSecret = Lock(false)
        server.route("GET", "/changes") { _ in
            let reply = ServerReply.text(isSecret.withLock { $0 } ? "new" : "old").header("ETag", "\"1\"")
            return reply.header("Cache-Control", isSecret.withLock { $0 } ? "no-store" : "no-cache")
        }
        let session = cached()
        _ = try await session.outcome(of: server.url("/changes"))
        isSecret.withLock { $0 = true }
        #expect(try await session.outcome(of: server.url("/changes")).text == "new")
        await session.settled()

        var offline = URLRequest(url: server.url("/changes"))
        offline.cachePolicy = .returnCacheDataDontLoad
        #expect(try await session.outcome(of: offline).error?.code == .resourceUnavailable)
    }

    @Test func `a stored redirect to what is not stored is no response of a task that only the cache may answer`()
        async throws
    {
        let away = ServerReply.status(301).header("Location", "/gone").header("Cache-Control", "max-age=60")
        server.route("GET", "/moved", away)
        server.route("GET", "/gone", ServerReply.text("there").header("Cache-Control", "no-store"))
        let session = cached()
        #expect(try await session.outcome(of: server.url("/moved")).text == "there")

        var offline = URLRequest(url: server.url("/moved"))
        offline.cachePolicy = .returnCacheDataDontLoad
        let outcome = try await session.outcome(of: offline)
        #expect(outcome.error?.code == .resourceUnavailable && outcome.response == nil)
        #expect(server.requests.count == 2)
    }

    @Test func `an error may be replaced by what is stored, if that says so`() async throws {
        let isBroken = Lock(false)
        server.route("GET", "/breaks") { _ in
            if isBroken.withLock({ $0 }) { return .status(503) }
            return ServerReply.text("good").header("Cache-Control", "max-age=0, stale-if-error=86400").header(
                "ETag",
                "\"1\""
            )
        }
        let session = cached()
        _ = try await session.outcome(of: server.url("/breaks"))
        isBroken.withLock { $0 = true }
        #expect(try await session.outcome(of: server.url("/breaks")).text == "good")
        server.stop()
        #expect(try await session.outcome(of: server.url("/breaks")).text == "good")
    }

    @Test func `the cache asks once about a response that it serves stale`() async throws {
        server.route("GET", "/stale") { _ in
            ServerReply.text("x").header("ETag", "\"1\"").header(
                "Cache-Control",
                "max-age=0, stale-while-revalidate=86400"
            )
        }
        let session = cached()
        _ = try await session.outcome(of: server.url("/stale"))
        #expect(try await session.outcome(of: server.url("/stale")).text == "x")

        let requests = try await server.waitForRequests(2)
        #expect(requests.map { $0.headers["If-None-Match"] } == [nil, "\"1\""])
    }

    @Test func `the session learns from the answer about a stored response that it serves stale`() async throws {
        let site = try SecuredSite()
        site.server.route("GET", "/stale") { request in
            let isAsked = request.headers["If-None-Match"] != nil
            let reply = (isAsked ? ServerReply.status(304) : .text("x"))
                .header("ETag", "\"1\"")
                .header("Cache-Control", "max-age=0, stale-while-revalidate=86400")
            return (isAsked ? reply.header("Set-Cookie", "visit=2") : reply)
                .header("Strict-Transport-Security", "max-age=\(isAsked ? 100 : 0)")
        }
        let hosts = HSTSStore()
        let session = cached {
            $0.tls = site.tls
            $0.httpCookieStorage = HTTPCookieStorage()
            $0.strictTransportSecurity = hosts
        }
        site.server.route("GET", "/visit", .text("x").header("Set-Cookie", "visit=1; Max-Age=100"))
        _ = try await session.outcome(of: site.server.url("/visit", host: "localhost"))
        let url = site.server.url("/stale", host: "localhost")
        _ = try await session.outcome(of: url)
        #expect(!hosts.covers(host: "localhost"))
        #expect(try await session.outcome(of: url).text == "x")

        try await eventually { hosts.covers(host: "localhost") }
        _ = try await session.outcome(of: site.server.url("/hello", host: "localhost"))
        #expect(site.server.requests.map { $0.headers["Cookie"] } == [nil, "visit=1", "visit=1", "visit=2"])
    }

    @Test func `T-TLS-10 nothing is asked about in the background where a delegate decides about servers`() async throws
    {
        let site = try SecuredSite()
        site.server.route("GET", "/stale") { _ in
            ServerReply.text("x").header("ETag", "\"1\"").header(
                "Cache-Control",
                "max-age=0, stale-while-revalidate=86400"
            )
        }
        let delegate = TrustDelegate { TrustDelegate.trusting($0) }
        let session = cached(delegate) { $0.maximumConnectionAge = 0 }
        site.server.route("GET", "/visit", .text("x").header("Set-Cookie", "visit=1; Max-Age=100"))
        _ = try await session.outcome(of: site.server.url("/visit", host: "localhost"))
        let url = site.server.url("/stale", host: "localhost")
        _ = try await session.outcome(of: url)
        #expect(try await session.outcome(of: url).text == "x")
        await session.settled()
        _ = try await session.outcome(of: site.server.url("/hello", host: "localhost"))

        #expect(delegate.methods.value.count == site.server.acceptedConnections)
    }

    @Test func `a delegate decides what is stored, after it has seen all of it`() async throws {
        server.route("GET", "/fresh", ServerReply.text("fresh").header("Cache-Control", "max-age=86400"))
        for (keeps, count) in [(false, 2), (true, 1)] {
            server.forgetRequests()
            let delegate = CachingDelegate(keeps: keeps)
            let session = cached(delegate)
            for number in 1...2 {
                session.dataTask(with: server.url("/fresh")).resume()
                try await delegate.events.wait("an end") { $0.count { $0 == "end" } == number }
                await session.settled()
            }
            #expect(delegate.events.value.prefix(4) == ["response", "data", "cache", "end"])
            #expect(server.requests.count == count)
        }
    }

    @Test func `a redirect from the cache is followed by the same rules`() async throws {
        server.route(
            "GET",
            "/1",
            ServerReply.status(301).header("Location", other.url("/see").absoluteString)
                .header("Cache-Control", "max-age=86400")
        )
        let session = cached()
        for _ in 0..<2 {
            let outcome = try await session.outcome(
                of: URLRequest("GET", server.url("/1"), fields: ["Authorization": "canary"])
            )
            #expect(outcome.text == "- ")
        }
        #expect(other.requests.count == 2)
    }

    // MARK: - Time

    @Test func `T-RED-24 a delegate that never answers costs the task's time, and no more`() {
        let world = VirtualWorld()
        world.script(
            "a.test",
            .expectRequest,
            .reply("HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\nCache-Control: max-age=9\r\n\r\n"),
            .again
        )
        let silent = RedirectDelegate { _, _, _ in }
        let (session, _) = world.makeSession(delegate: silent) { $0.timeoutIntervalForResource = 100 }
        for _ in 0..<2 {
            // The second time from the cache.
            let start = world.now
            let task = session.dataTask(with: URL(string: "http://a.test/") ?? URL(fileURLWithPath: "/"))
            task.resume()
            world.run { task.state == .completed }
            #expect((task.error as? URLError)?.code == .timedOut)
            #expect(start.duration(to: world.now) >= .seconds(100) && start.duration(to: world.now) < .seconds(102))
        }
        #expect(world.finish() == [])
    }

    @Test func `the time of a suspension does not count, also between two hops`() {
        let world = VirtualWorld()
        world.script(
            "a.test",
            .expectRequest,
            .reply("HTTP/1.1 302 Found\r\nLocation: http://b.test/\r\nContent-Length: 0\r\n\r\n"),
            .again
        )
        world.script("b.test", .expectRequest, .reply("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .again)
        let answer = Lock<(@Sendable () -> Void)?>(nil)
        let delegate = RedirectDelegate { _, request, completion in
            answer.withLock { $0 = { completion(request) } }
        }
        let (session, _) = world.makeSession(delegate: delegate) { $0.timeoutIntervalForResource = 100 }
        let task = session.dataTask(with: URL(string: "http://a.test/") ?? URL(fileURLWithPath: "/"))
        task.resume()
        world.run { answer.withLock { $0 != nil } }
        task.suspend()
        world.advance(by: .seconds(600))
        answer.withLock { $0 }?()
        world.advance(by: .seconds(600))
        task.resume()
        world.run { task.state == .completed }

        #expect(task.error == nil && (task.response as? HTTPURLResponse)?.statusCode == 200)
        #expect(world.finish() == [])
    }
}

/// Writes down the order of what it hears.
private final class CachingDelegate: URLSessionDataDelegate {
    let events = Watched<[String]>([])
    private let keeps: Bool

    init(keeps: Bool) {
        self.keeps = keeps
    }

    private func note(_ event: String) {
        events.change { $0.append(event) }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        note("response")
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { note("data") }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        note("cache")
        completionHandler(keeps ? proposedResponse : nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        note("end")
    }
}
