@Suite("Timeouts by name")
final class TimeoutTests: WorldSuite {
    private func failure(_ events: TaskEvents) throws -> LoadFailure { try #require(events.error?.loadFailure) }

    private func timings(_ events: TaskEvents) -> [String] {
        events.error?.loadFailure?.timings.map(\.description) ?? []
    }

    // MARK: - The queue

    @Test func `T-RES-15 waiting for a turn has a time of its own`() throws {
        world.configure {
            $0.httpMaximumConnectionsPerHost = 1
            $0.queueTimeout = 5
        }
        world.serveEcho("api.test", after: .seconds(30))
        let first = world.get("http://api.test/1")
        world.settle()
        let start = world.now

        let second = world.get("http://api.test/2")
        world.run { second.isComplete }

        #expect(second.all == [.failed(.timedOut)])
        #expect(start.duration(to: world.now) == .seconds(5))
        #expect(try failure(second).detail == .queue && second.phase == .queued)
        #expect(timings(second) == ["queued 5.0 s"])
        #expect(try failure(second).message.contains("queueTimeout"))
        world.run { first.isComplete }
        #expect(first.body == "/1")
    }

    @Test func `T-RES-15 a request for which a connection is made does not wait for its turn`() throws {
        world.configure {
            $0.httpMaximumConnectionsPerHost = 1
            $0.queueTimeout = 3
        }
        world.host("api.test", "192.0.2.1")
        world.serveEcho("api.test")
        world.set(.acceptsAfter(.seconds(10)), for: "192.0.2.1")

        let first = world.get("http://api.test/1")
        let second = world.get("http://api.test/2")
        world.run { first.isComplete && second.isComplete }

        #expect(first.body == "/1")
        #expect(second.all == [.failed(.timedOut)])
        #expect(try failure(second).detail == .queue)
        #expect(timings(second) == ["queued 3.0 s"])
    }

    @Test func `a request has a longer time for the queue than its session`() {
        world.configure {
            $0.httpMaximumConnectionsPerHost = 1
            $0.queueTimeout = 1
        }
        world.serveEcho("api.test", after: .seconds(8))
        let first = world.get("http://api.test/1")
        world.settle()
        var request = URLRequest(url: URL(string: "http://api.test/2") ?? URL(fileURLWithPath: "/"))
        request.queueTimeout = 20

        let task = world.session.dataTask(with: request)
        task.resume()
        let second = TaskEvents(task: task, recorder: world.recorder)
        world.run { second.isComplete }

        #expect(first.body == "/1" && second.body == "/2")
    }

    @Test func `the time for the queue stands still while the task is suspended`() {
        world.configure {
            $0.httpMaximumConnectionsPerHost = 1
            $0.queueTimeout = 5
        }
        world.serveEcho("api.test", after: .seconds(30))
        let first = world.get("http://api.test/1")
        world.settle()
        let second = world.get("http://api.test/2")
        world.advance(by: .seconds(1))

        second.task.suspend()
        world.advance(by: .seconds(27))
        second.task.resume()
        world.advance(by: .seconds(3))
        world.run { second.isComplete }

        #expect(first.body == "/1" && second.body == "/2")
    }

    // MARK: - The whole task

    private func request(_ url: URL?, taking seconds: TimeInterval?) throws -> URLRequest {
        var request = URLRequest(url: try #require(url))
        request.timeoutIntervalForResource = seconds
        return request
    }

    /// How long a GET takes that nothing answers before it has to end.
    private func time(of request: URLRequest, in world: VirtualWorld) throws -> Duration {
        let start = world.now
        let task = world.session.dataTask(with: request)
        task.resume()
        world.run { task.state == .completed }
        let failure = try #require((task.error as? URLError)?.loadFailure)
        #expect(failure.reason == .timeout && failure.detail == .resource)
        #expect(failure.message.contains("timeoutIntervalForResource"))
        return start.duration(to: world.now)
    }

    @Test(arguments: [(4, 4), (nil, 10), (0, 10), (-1, 10), (.nan, 10), (30, 30)] as [(TimeInterval?, Int)])
    func `a request has a time of its own for its whole task`(own: TimeInterval?, expected: Int) throws {
        world.configure { $0.timeoutIntervalForResource = 10 }
        world.serveEcho("api.test", after: .seconds(50))

        let took = try time(of: try request(URL(string: "http://api.test/"), taking: own), in: world)

        #expect(took == .seconds(expected))
    }

    /// Gives a request another time.
    private struct Hurry: TaskInterceptor {
        func adapt(_ request: URLRequest, for task: URLSessionTask) async throws -> URLRequest {
            var request = request
            request.timeoutIntervalForResource = 1
            return request
        }
    }

    @Test func `the time that the task's own request sets counts, not that of an interceptor`() throws {
        world.configure { $0.requestInterceptors = [Hurry()] }
        world.serveEcho("api.test", after: .seconds(50))

        let took = try time(of: try request(URL(string: "http://api.test/"), taking: 7), in: world)

        #expect(took == .seconds(7))
    }

    @Test func `redirects share the time that the request sets`() throws {
        let hop = "HTTP/1.1 302 Found\r\nLocation: http://a.test/\r\nContent-Length: 0\r\n\r\n"
        world.script("a.test", .expectRequest, .delay(.seconds(4)), .reply(hop), .again)

        let took = try time(of: try request(URL(string: "http://a.test/"), taking: 10), in: world)

        #expect(took == .seconds(10))
    }

    @Test(arguments: ["http", "app"])
    func `the time that the request sets holds for a protocol class`(scheme: String) throws {
        let site = StubSite { stub in stub.begin() }
        world.configure { $0.protocolClasses = [StubProtocol.self] }

        let took = try time(of: try request(site.url(scheme: scheme), taking: 7), in: world)

        #expect(took == .seconds(7))
    }

    @Test func `a WebSocket is open for as long as its request says`() {
        let scene = WebSocketScene(request: { $0.timeoutIntervalForResource = 12 })

        #expect(scene.run() == ["open", "failed timeout.resource"])
        #expect(scene.world.finish() == [])
    }

    // MARK: - Connecting

    @Test func `T-RES-32 connecting has a time of its own, whose error names every address`() throws {
        world.configure { $0.connectTimeout = 2 }
        world.host("api.test", ["2001:db8::1", "192.0.2.1"], after: .milliseconds(500))
        for address in ["2001:db8::1", "192.0.2.1"] { world.set(.neverAnswers, for: address) }
        let start = world.now

        let events = world.load("http://api.test/")

        let failure = try failure(events)
        #expect(events.all == [.failed(.timedOut)])
        #expect(start.duration(to: world.now) == .seconds(2))
        #expect(failure.detail == .connect && failure.phase == .connecting)
        #expect(failure.attempts.map(\.address) == ["[2001:db8::1]:80", "192.0.2.1:80"])
        #expect(failure.attempts.allSatisfy { $0.outcome == .timedOut })
        #expect(timings(events) == ["resolving 0.5 s", "connecting 1.5 s"])
        #expect(failure.description.contains("  resolving 0.5 s, connecting 1.5 s"))
        #expect(world.network.openConnections.isEmpty)
    }

    @Test func `T-RES-34 the lookup counts towards connecting`() throws {
        world.configure { $0.connectTimeout = 2 }
        world.host("api.test", ["192.0.2.1"], after: .seconds(10))

        let events = world.load("http://api.test/")

        #expect(try failure(events).detail == .connect && events.phase == .resolving)
        #expect(timings(events) == ["resolving 2.0 s"])
        world.advance(by: .seconds(20))
        #expect(world.network.connections.isEmpty)
    }

    @Test func `T-RES-32 an address that does not answer in its time makes way, and is none to wait for`() throws {
        world.configure { $0.connectAttemptTimeout = 1 }
        world.host("api.test", "2001:db8::1", "192.0.2.1")
        for address in ["2001:db8::1", "192.0.2.1"] { world.set(.neverAnswers, for: address) }
        let start = world.now

        let events = world.load("http://api.test/")

        #expect(events.all == [.failed(.timedOut)])
        #expect(start.duration(to: world.now) == .milliseconds(1250))
        #expect(try failure(events).detail == .attempt)
        #expect(try failure(events).attempts.map(\.outcome) == [.timedOut, .timedOut])
    }

    @Test func `T-RES-37 an address that takes its time is no loss while another answers`() {
        world.configure { $0.connectAttemptTimeout = 1 }
        world.host("api.test", "2001:db8::1", "192.0.2.1")
        world.set(.neverAnswers, for: "2001:db8::1")
        world.set(.acceptsAfter(.milliseconds(900)), for: "192.0.2.1")
        world.serveEcho("api.test")

        #expect(world.load("http://api.test/").body == "/")
    }

    @Test(arguments: [5.0, nil])
    func `the idle time, and that of the task, name the addresses tried until then`(idle: Double?) throws {
        world.configure { $0.timeoutIntervalForResource = 8 }
        world.host("api.test", "192.0.2.1", "192.0.2.2")
        world.set(.refuses(), for: "192.0.2.1")
        world.set(.neverAnswers, for: "192.0.2.2")

        let events = world.get("http://api.test/", idleTimeout: idle.map { .seconds($0) })
        world.run { events.isComplete }

        let failure = try failure(events)
        #expect(failure.detail == (idle == nil ? .resource : .idle) && failure.phase == .connecting)
        #expect(failure.attempts.map(\.outcome) == [.failed, .timedOut])
        #expect(timings(events) == ["connecting \(idle ?? 8.0) s"])
    }

    @Test func `making way through a proxy counts towards connecting`() throws {
        let bench = ProxyBench { configuration in
            configuration.proxies = ProxyServer.parsed("http://proxy.test:3128").map { ProxyConfiguration($0) }
            configuration.connectTimeout = 4
        }
        bench.proxy(.bytes(100_000, []))

        let events = bench.send("https://api.test/")

        #expect(events.all == [.failed(.timedOut)])
        #expect(try failure(events).detail == .connect && events.phase == .proxy)
        #expect(timings(events) == ["proxy 4.0 s"])
        #expect(bench.world.finish() == [])
    }

    @Test func `T-RES-11 securing a connection has a time of its own`() async throws {
        let server = try TestServer()
        server.script(on: .every, .pause(until: "the end"))
        let session = URLSession.loopback { $0.tlsTimeout = 0.05 }
        let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))

        let outcome = try await session.outcome(of: url)
        server.signal("the end")

        let failure = try #require(outcome.error?.loadFailure)
        #expect(outcome.error?.code == .timedOut)
        #expect(failure.detail == .handshake && failure.phase == .tls)
        #expect(failure.timings.last?.phase == .tls)
    }

    // MARK: - How long each phase took

    @Test func `an error says how long each phase took`() throws {
        world.host("api.test", ["192.0.2.1"], after: .seconds(1))
        world.set(.acceptsAfter(.seconds(2)), for: "192.0.2.1")
        world.script(
            "api.test",
            .expectRequest,
            .delay(.seconds(3)),
            .reply("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"),
            .delay(.seconds(4)),
            .close
        )

        let events = world.load("http://api.test/")

        #expect(events.all == [.response(200), .data(3), .failed(.networkConnectionLost)])
        #expect(
            timings(events) == ["resolving 1.0 s", "connecting 2.0 s", "waitingForHead 3.0 s", "receivingBody 4.0 s"]
        )
    }

    @Test func `a dial begun for another request counts from where this one began to wait`() throws {
        world.configure { $0.httpMaximumConnectionsPerHost = 1 }
        world.host("api.test", "192.0.2.1")
        world.set(.refuses(after: .seconds(6)), for: "192.0.2.1")
        let first = world.get("http://api.test/1")
        world.advance(by: .seconds(2))

        let second = world.get("http://api.test/2", priority: 1)
        world.run { first.isComplete && second.isComplete }

        #expect(timings(second) == ["connecting 4.0 s"])
        #expect(timings(first) == ["queued 6.0 s", "connecting 6.0 s"] || timings(first) == ["connecting 12.0 s"])
    }
}

extension ProxyServer {
    fileprivate static func parsed(_ url: String) -> ProxyServer? { try? ProxyServer(url) }
}
