@Suite("Redirects in time")
final class RedirectTimingTests: WorldSuite {
    private static let away = "HTTP/1.1 302 Found\r\nLocation: http://b.test/\r\nContent-Length: 5\r\n\r\n"
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    @Test func `T-RED-21 the end of a slow redirect is not waited for`() {
        world.script("a.test", .expectRequest, .reply(Self.away), .delay(.seconds(3600)), .reply("12345"))
        world.script("b.test", .expectRequest, .reply(Self.ok), .again)
        let start = world.now

        let events = world.load("http://a.test/")

        #expect(events.all == [.response(200), .data(2), .finished])
        #expect(start.duration(to: world.now) < .seconds(2))
    }

    @Test func `T-RED-21 the body of a redirect is given up after two seconds`() {
        world.script("a.test", .expectRequest, .reply(Self.away), .stall)
        world.script("b.test", .expectRequest, .reply(Self.ok), .again)

        let events = world.load("http://a.test/")
        world.run(limit: .seconds(3))

        #expect(events.all.last == .finished)
        #expect(world.network.connections.first?.isOver == true)
    }

    @Test(arguments: [(5, 1), (64 << 20, 4)])
    func `T-RES-49 a connection is used again behind the body of a redirect, if that is short`(size: Int, count: Int) {
        world.network.recordsBytes = false
        let away = "HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: \(size)\r\n\r\n"
        world.respond("a.test") { request, moment, client in
            guard moment == .complete else { return }
            guard request.target != "/next" else { return client.send(Self.ok) }
            client.send(away)
            client.send(UInt8(ascii: "v"), count: size)
        }

        for _ in 1...3 {
            #expect(world.load("http://a.test/").all.last == .finished)
            world.run(limit: .seconds(3))
        }

        #expect(world.network.connections.count == count)
    }

    @Test func `T-RED-23 hops share the time of the whole task`() {
        world.configure { $0.timeoutIntervalForResource = 10 }
        let hop = "HTTP/1.1 302 Found\r\nLocation: http://a.test/\r\nContent-Length: 0\r\n\r\n"
        world.script("a.test", .expectRequest, .delay(.seconds(4)), .reply(hop), .again)
        let start = world.now

        let events = world.load("http://a.test/")

        #expect(events.all == [.failed(.timedOut)])
        #expect(start.duration(to: world.now) < .seconds(11))
    }

    @Test func `T-RED-23 each hop has its own idle time`() {
        world.configure { $0.timeoutIntervalForRequest = 5 }
        world.script("a.test", .expectRequest, .delay(.seconds(4)), .reply(Self.away), .reply("12345"), .again)
        world.script("b.test", .expectRequest, .delay(.seconds(4)), .reply(Self.ok), .again)

        #expect(world.load("http://a.test/").all.last == .finished)
    }

    @Test func `T-RED-21 a task suspended while its delegate decides goes on with the first answer`() {
        let answers = Lock<[RedirectDelegate.Completion]>([])
        let delegate = RedirectDelegate { _, _, completion in answers.withLock { $0.append(completion) } }
        world.configure { $0.timeoutIntervalForResource = 30 }
        world.script("a.test", .expectRequest, .reply(Self.away), .reply("12345"))
        world.script("b.test", .expectRequest, .reply(Self.ok), .again)
        let task = world.session.dataTask(with: URLRequest(url: URL(string: "http://a.test/")!))
        task.delegate = delegate
        task.resume()
        world.run(limit: .seconds(5)) { answers.withLock { !$0.isEmpty } }

        task.suspend()
        world.advance(by: .seconds(100))
        // Both answers come during the suspension, and the first one counts.
        let proposed = delegate.questions.withLock { $0[0].request }
        for request in [proposed, nil] { answers.withLock { $0[0] }(request) }
        world.advance(by: .seconds(100))
        #expect(world.network.connections.count == 1 && task.state == .suspended)

        task.resume()
        world.run(limit: .seconds(5)) { task.state == .completed }
        #expect((task.response as? HTTPURLResponse)?.statusCode == 200 && task.error == nil)
        #expect(world.network.connections.count == 2)
    }

    @Test(arguments: [false, true])
    func `a delegate that never answers keeps neither the task nor its response alive`(isTasksOwn: Bool) {
        let silent = NeverAnswering()
        world.script("a.test", .expectRequest, .reply(Self.away), .reply("12345"))
        let (session, queue) = isTasksOwn ? (world.session, world.queue) : world.makeSession(delegate: silent) { _ in }
        weak var finished: URLSessionTask?
        do {
            let task = session.dataTask(with: URLRequest(url: URL(string: "http://a.test/")!))
            if isTasksOwn { task.delegate = silent }
            task.resume()
            world.run(limit: .seconds(5)) { silent.isAsked }
            #expect(silent.response != nil)
            task.cancel()
            world.run(limit: .seconds(5)) { task.state == .completed }
            finished = task
        }
        world.run(limit: .seconds(10))

        #expect(silent.isAsked)
        #expect(finished == nil)
        #expect(silent.response == nil)
        withExtendedLifetime((session, queue)) {}
    }

    @Test func `a task suspended between two hops goes on where it was`() {
        world.script("a.test", .expectRequest, .reply(Self.away), .reply("12345"), .again)
        world.script("b.test", .expectRequest, .reply(Self.ok), .again)
        for steps in 1...60 {
            let events = world.get("http://a.test/")
            world.take(steps, of: events)
            events.task.suspend()
            world.run(limit: .seconds(90))
            events.task.resume()
            world.run { events.isComplete }
            #expect(events.all == [.response(200), .data(2), .finished], "\(steps)")
        }
    }

    @Test func `a task cancelled at any point of its way ends once and leaves nothing`() {
        for steps in 1...60 {
            let world = VirtualWorld()
            world.script("a.test", .expectRequest, .reply(Self.away), .reply("12345"), .again)
            world.script("b.test", .expectRequest, .reply(Self.ok), .again)
            let events = world.get("http://a.test/")
            world.take(steps, of: events)
            events.task.cancel()
            world.run { events.isComplete }
            #expect(events.record.completions == 1, "\(steps)")
            #expect(world.finish() == [], "\(steps)")
        }
    }

    // MARK: - From the cache

    /// Leads to itself: at first from the network, and then from the cache.
    private static func circle(_ count: Int) -> VirtualWorld {
        let circle = "HTTP/1.1 301 Moved\r\nLocation: http://a.test/\r\nContent-Length: 0\r\n"
        let world = VirtualWorld()
        world.configure { $0.redirectPolicy.maximumCount = count }
        world.script("a.test", .expectRequest, .reply(circle + "Cache-Control: max-age=100000\r\n\r\n"), .again)
        return world
    }

    @Test func `T-RED-29, T-RES-43 each redirect from the cache has a turn of the loop for itself`() {
        let world = Self.circle(100)
        let before = world.turns

        let events = world.load("http://a.test/")

        #expect(events.all == [.failed(.httpTooManyRedirects)])
        #expect(world.turns - before >= 100)
        let sources = events.record.metrics?.transactionMetrics.map(\.resourceFetchType) ?? []
        #expect(sources.count == 101 && sources.count { $0 == .localCache } >= 98)
        #expect(world.finish() == [])
    }

    @Test func `T-RES-43 ten thousand redirects from the cache need no more stack than one`() async {
        await #expect(processExitsWith: .success) {
            let world = RedirectTimingTests.circle(10_000)
            #expect(world.load("http://a.test/").all == [.failed(.httpTooManyRedirects)])
            #expect(world.finish() == [])
        }
    }

    /// Three hops that are in the cache.
    private func cachedWay() -> VirtualWorld {
        let world = VirtualWorld()
        world.respond("a.test") { request, moment, client in
            guard moment == .complete else { return }
            let next = ["/1": "/2", "/2": "/3"][request.target]
            let head = next.map { "301 Moved\r\nLocation: \($0)\r\nContent-Length: 0" } ?? "200 OK\r\nContent-Length: 2"
            client.send("HTTP/1.1 \(head)\r\nCache-Control: max-age=100000\r\n\r\n" + (next == nil ? "ok" : ""))
        }
        for _ in 1...3 { world.load("http://a.test/1") }
        return world
    }

    @Test func `T-RED-29 a task suspended between two hops from the cache goes on where it was`() {
        let world = cachedWay()
        let requests = world.network.connections.map(\.receivedCount)
        for steps in 1...30 {
            let events = world.get("http://a.test/1")
            world.take(steps, of: events)
            events.task.suspend()
            world.run(limit: .seconds(90))
            events.task.resume()
            world.run { events.isComplete }
            #expect(events.all == [.response(200), .data(2), .finished], "\(steps)")
            #expect(events.record.metrics?.redirectCount == 2, "\(steps)")
        }
        #expect(world.network.connections.map(\.receivedCount) == requests)
        #expect(world.finish() == [])
    }

    @Test func `T-RED-29 a task cancelled between two hops from the cache ends once and leaves nothing`() {
        for steps in 1...30 {
            let world = cachedWay()
            let events = world.get("http://a.test/1")
            world.take(steps, of: events)
            events.task.cancel()
            world.run { events.isComplete }
            #expect(events.record.completions == 1, "\(steps)")
            #expect(world.finish() == [], "\(steps)")
        }
    }
}

extension VirtualWorld {
    /// Goes so many steps on the way of a task, if it has as many.
    fileprivate func take(_ steps: Int, of task: TaskEvents) {
        for _ in 0..<steps where !task.isComplete { _ = step(until: now + LoopInterval(.seconds(1))) }
    }
}

/// Keeps the completion of a question, and never calls it.
private final class NeverAnswering: URLSessionDataDelegate {
    private struct Question {
        weak var response: HTTPURLResponse?
        let completion: @Sendable (URLRequest?) -> Void
    }

    private let question = Lock<Question?>(nil)

    var isAsked: Bool { question.withLock { $0 != nil } }
    var response: HTTPURLResponse? { question.withLock { $0?.response } }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        question.withLock { $0 = Question(response: response, completion: completionHandler) }
    }
}
