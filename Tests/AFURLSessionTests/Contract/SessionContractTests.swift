import Dispatch

/// What programs written for Apple's loader count on: sessions, configurations, tasks.
@Suite("As Apple's loader: sessions and tasks")
struct SessionContractTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
        server.route("*", "/see") { request in
            .text(["X-A", "X-B", "Authorization"].map { request.headers[$0] ?? "-" }.joined(separator: " "))
        }
    }

    // MARK: - 15.1

    @Test func `15.1 a configuration is copied, going in and coming out`() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-A": "before"]
        let session = URLSession(configuration: configuration)
        configuration.httpAdditionalHeaders = ["X-A": "after"]
        session.configuration.httpAdditionalHeaders = ["X-A": "later"]

        #expect(try await session.outcome(of: server.url("/see")).text == "before - -")
        #expect(session.configuration.httpAdditionalHeaders as? [String: String] == ["X-A": "before"])
    }

    @Test func `15.1 the defaults are Apple's`() {
        let configuration = URLSessionConfiguration.default
        #expect(configuration.requestCachePolicy == .useProtocolCachePolicy)
        #expect(configuration.timeoutIntervalForRequest == 60 && configuration.timeoutIntervalForResource == 604_800)
        #expect(configuration.httpMaximumConnectionsPerHost == 6 && !configuration.httpShouldUsePipelining)
        #expect(configuration.httpShouldSetCookies && configuration.httpAdditionalHeaders == nil)
        #expect(configuration.httpCookieAcceptPolicy == .onlyFromMainDocumentDomain)
        #expect(configuration.httpCookieStorage === HTTPCookieStorage.shared)
        #expect(configuration.urlCache === URLCache.shared)
        #expect(configuration.urlCredentialStorage === URLCredentialStorage.shared)
        let request = URLRequest(url: server.url())
        #expect(request.timeoutInterval == 60 && request.httpMethod == "GET" && request.httpShouldHandleCookies)
    }

    @Test func `15.1 what an ephemeral session keeps is its own`() {
        let (one, other) = (URLSessionConfiguration.ephemeral, URLSessionConfiguration.ephemeral)
        #expect(one.httpCookieStorage != nil && one.httpCookieStorage !== other.httpCookieStorage)
        #expect(one.urlCache != nil && one.urlCache !== other.urlCache && one.urlCache?.diskCapacity == 0)
        #expect(one.urlCredentialStorage != nil && one.urlCredentialStorage !== other.urlCredentialStorage)
    }

    @Test func `15.1 the request goes before the configuration, and Authorization set by hand is sent`() async throws {
        let session = URLSession.loopback { $0.httpAdditionalHeaders = ["x-a": "session", "X-B": "session"] }
        let fields = ["X-A": "request", "Authorization": "mine"]

        let outcome = try await session.outcome(of: URLRequest("GET", server.url("/see"), fields: fields))

        #expect(outcome.text == "request session mine")
    }

    @Test func `15.1 tasks can be listed on the delegate queue itself, which may wait for it`() async throws {
        let count = Watched(-1)
        let listed = Lock<URLSession?>(nil)
        let witness = Witness { answers in
            answers.response = { _, done in
                let answered = DispatchSemaphore(value: 0)
                listed.withLock { $0 }?.getTasksWithCompletionHandler { tasks, _, _ in
                    count.change { $0 = tasks.count }
                    answered.signal()
                }
                _ = answered.wait(timeout: .now() + 5)
                done(.allow)
            }
        }
        let session = URLSession.loopback(delegate: witness)
        listed.withLock { $0 = session }
        defer { listed.withLock { $0 = nil } }

        session.dataTask(with: server.url("/see")).resume()
        try await witness.ended()

        #expect(count.value == 1)
    }

    @Test func `15.1 tasks are numbered from 1, and the shared session cannot be ended`() async throws {
        let session = URLSession.loopback()
        defer { session.invalidateAndCancel() }
        #expect((1...3).map { _ in session.dataTask(with: server.url("/see")).taskIdentifier } == [1, 2, 3])

        URLSession.shared.invalidateAndCancel()
        URLSession.shared.finishTasksAndInvalidate()
        #expect(try await URLSession.shared.outcome(of: server.url("/see")).status == 200)
    }

    @Test func `15.1 a session that finishes lets its tasks end, and tells that it has ended, last`() async throws {
        server.route("GET", "/held", ServerReply.text("late").held(until: "go"))
        let witness = Witness()
        let session = URLSession.loopback(delegate: witness)
        session.dataTask(with: server.url("/held")).resume()
        try await server.waitForRequests(1)

        session.finishTasksAndInvalidate()
        server.signal("go")

        let words = try await witness.words.wait { $0.last == "invalid" }
        #expect(words == ["response 200", "data", "caching", "metrics", "completed", "invalid"])
    }

    // MARK: - 15.2

    @Test func `15.2 states and suspensions`() async throws {
        server.route("GET", "/held", ServerReply.text("late").held(until: "go"))
        let witness = Witness()
        let session = URLSession.loopback(delegate: witness)
        let task = session.dataTask(with: server.url("/held"))
        #expect(task.state == .suspended && URLSessionTask.State.running.rawValue == 0)
        task.suspend()
        task.resume()
        #expect(task.state == .suspended)
        task.resume()
        #expect(task.state == .running)
        try await server.waitForRequests(1)
        task.suspend()
        task.suspend()
        // What arrives before the network thread knows may still come.
        await session.settled()
        server.signal("go")
        task.resume()
        await session.settled()
        #expect(task.state == .suspended && witness.words.value == [])
        task.resume()
        try await witness.ended()
        #expect(task.state == .completed && task.error == nil)
        task.resume()
        task.cancel()
        await session.settled()
        #expect(task.state == .completed && witness.words.value.count { $0.hasPrefix("completed") } == 1)
    }

    @Test func `15.2 a task that was never resumed can be cancelled, and says where it wanted to go`() async throws {
        let outcomes = Outcomes()
        let task = URLSession.loopback().dataTask(with: server.url("/see"), completionHandler: outcomes.handler)
        task.cancel()
        #expect(task.state == .canceling || task.state == .completed)

        let error = try #require(try await outcomes.first().error)
        #expect(error.code == .cancelled && error.failingURL == server.url("/see"))
        #expect(server.acceptedConnections == 0)
    }

    @Test func `15.2 an HTTP error is no error of the task, and what is counted is right`() async throws {
        server.route("PUT", "/500", ServerReply.text("broken").status(500))
        let witness = Witness()
        let task = URLSession.loopback(delegate: witness).uploadTask(
            with: URLRequest("PUT", server.url("/500")),
            from: Data("12345".utf8)
        )
        #expect(task.countOfBytesExpectedToSend == 5 && task.countOfBytesExpectedToReceive == -1)
        task.resume()
        let words = try await witness.ended()

        #expect(words == ["sent", "response 500", "data", "metrics", "completed"])
        #expect(task.countOfBytesSent == 5 && task.countOfBytesReceived == 6)
        #expect(task.countOfBytesExpectedToReceive == 6 && task.error == nil)
    }

    // MARK: - 15.9

    @Test func `15.9 the idle time does not run while the delegate thinks, and the resource time does`() throws {
        for (resource, expected) in [(1000.0, "completed"), (30.0, "completed -1001")] {
            let world = VirtualWorld()
            world.respond("a.test") { request, moment, client in
                guard moment == .complete else { return }
                let here = "HTTP/1.1 302 Found\r\nLocation: /2\r\nContent-Length: 2\r\n\r\nno"
                client.send(request.target == "/1" ? here : VirtualWorld.echo(request.target))
            }
            let clock = ThreadBound(world.clock)
            let witness = Witness { answers in
                answers.redirect = { _, request, done in clock.value.after(.seconds(60)) { done(request) } }
                answers.response = { _, done in clock.value.after(.seconds(60)) { done(.allow) } }
            }
            let (session, _) = world.makeSession(delegate: witness) {
                $0.timeoutIntervalForRequest = 5
                $0.timeoutIntervalForResource = resource
            }
            let url = try #require(URL(string: "http://a.test/1"))
            session.dataTask(with: url).resume()
            world.run { witness.words.value.last?.hasPrefix("completed") == true }

            #expect(witness.words.value.last == expected)
            #expect(world.finish() == [])
        }
    }

    @Test func `15.9 the resource time stands still while the task is suspended, also between two hops`() throws {
        let world = VirtualWorld()
        world.respond("a.test") { request, moment, client in
            guard moment == .complete else { return }
            let here = "HTTP/1.1 302 Found\r\nLocation: /2\r\nContent-Length: 2\r\n\r\nno"
            client.send(request.target == "/1" ? here : VirtualWorld.echo(request.target))
        }
        let clock = ThreadBound(world.clock)
        let witness = Witness { answers in
            answers.redirect = { task, request, done in
                task.suspend()
                clock.value.after(.seconds(50)) { done(request) }
                clock.value.after(.seconds(100)) { task.resume() }
            }
        }
        let (session, _) = world.makeSession(delegate: witness) { $0.timeoutIntervalForResource = 20 }
        let url = try #require(URL(string: "http://a.test/1"))

        session.dataTask(with: url).resume()
        world.run { witness.words.value.last?.hasPrefix("completed") == true }

        #expect(witness.words.value.last == "completed")
        #expect(world.finish() == [])
    }

    @Test func `15.9 the resource time runs also while a challenge of a proxy waits for its answer`() throws {
        let world = VirtualWorld()
        world.respond("proxy.test", port: 3128) { _, moment, client in
            guard moment == .complete else { return }
            client.send("HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 0\r\n\r\n")
        }
        var proxies = ProxyConfiguration(try ProxyServer("http://proxy.test:3128"))
        proxies.tunnelsPlainHTTP = true
        let witness = Witness { $0.challenge = { _, _, _ in } }
        let (session, _) = world.makeSession(delegate: witness) { [proxies] in
            $0.proxies = proxies
            $0.timeoutIntervalForResource = 20
        }
        session.dataTask(with: try #require(URL(string: "http://a.test/1"))).resume()

        world.run(limit: .seconds(100)) { witness.words.value.last == "completed -1001" }

        #expect(witness.words.value == ["challenge HTTPBasic", "metrics", "completed -1001"])
        #expect(world.finish() == [])
    }

    @Test func `15.9 the resource time runs also while the delegate is asked about a cached redirect`() throws {
        let world = VirtualWorld()
        let isAsked = Lock(false)
        world.respond("a.test") { request, moment, client in
            guard moment == .complete else { return }
            let fields = "Location: /2\r\nCache-Control: max-age=1000\r\nContent-Length: 2\r\n\r\nno"
            client.send(request.target == "/1" ? "HTTP/1.1 301 Moved\r\n\(fields)" : VirtualWorld.echo(request.target))
        }
        let witness = Witness { answers in
            answers.redirect = { _, request, done in if !isAsked.withLock({ $0 }) { done(request) } }
        }
        let (session, _) = world.makeSession(delegate: witness) { $0.timeoutIntervalForResource = 20 }
        let url = try #require(URL(string: "http://a.test/1"))
        session.dataTask(with: url).resume()
        world.run { witness.words.value.last == "completed" }

        isAsked.withLock { $0 = true }
        session.dataTask(with: url).resume()
        world.run(limit: .seconds(100)) { witness.words.value.last == "completed -1001" }

        #expect(witness.words.value.last == "completed -1001")
        #expect(world.network.connections.count == 1)
        #expect(world.finish() == [])
    }

    // MARK: - Questions that the delegate does not answer

    @Test func `a delegate that keeps its questions for ever keeps neither its session nor itself`() async throws {
        let challenge = "Basic realm=\"a\""
        server.route("GET", "/secret", ServerReply.text("no").status(401).header("WWW-Authenticate", challenge))
        server.route("GET", "/moved", ServerReply.text("").status(302).header("Location", "/see"))
        weak var forgotten: Witness?
        weak var session: URLSession?
        do {
            let kept = Lock<[any Sendable]>([])
            let witness = Witness { answers in
                answers.challenge = { _, challenge, done in kept.withLock { $0 += [challenge, done] } }
                answers.redirect = { _, _, done in kept.withLock { $0.append(done) } }
            }
            let made = URLSession.loopback(delegate: witness)
            (forgotten, session) = (witness, made)
            for path in ["/secret", "/moved"] {
                let task = made.dataTask(with: server.url(path))
                task.resume()
                _ = try await server.waitForRequests(path == "/secret" ? 1 : 2)
                let word = path == "/secret" ? "challenge" : "redirect"
                try await witness.words.wait { $0.contains { $0.hasPrefix(word) } }
                task.cancel()
                try await witness.ended(path == "/secret" ? 1 : 2)
            }
        }
        for _ in 0..<500 where forgotten != nil || session != nil { try await Task.sleep(for: .milliseconds(10)) }
        #expect(forgotten == nil && session == nil)
    }
}
