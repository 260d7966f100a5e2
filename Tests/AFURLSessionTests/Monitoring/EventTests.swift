@testable import AFURLSession
@testable import AFURLTypes

extension MonitoringTests {
    @Suite("What monitors hear")
    struct Events {
        private let server: TestServer
        private let tape = EventTape()

        init() throws {
            server = try TestServer()
            server.route("*", "/end") { request in .text("\(request.method) \(request.bodyText)") }
        }

        @Test func `a plain request is told of in order, and nothing follows its end`() async throws {
            let session = URLSession.loopback {
                $0.eventMonitors = [tape]
                $0.urlCache = nil
            }
            let url = try #require(URL(string: "http://localhost:\(server.port)/end"))

            _ = try await session.outcome(of: url)
            _ = try await tape.completed()
            _ = try await session.outcome(of: url)
            let events = try await tape.completed(2)

            let first = ["created", "resumed", "fetch", "uses", "request", "response", "received", "completed"]
            #expect(tape.taskWords.filter { $0 != "goes" } == first + first)
            #expect(Array(tape.connectionWords.prefix(4)) == ["lookup", "lookup", "connect", "connected"])
            #expect(events.filter { $0.task == 1 }.last?.isCompletion == true)
            #expect(events.map(\.date) == events.map(\.date).sorted())
            let connections = events.compactMap { event -> Int? in
                if case .connectionAcquired = event.kind { event.connection } else { nil }
            }
            #expect(connections == [1, 1])
            guard case .completed(let outcome) = events.last(where: \.isCompletion)?.kind else { return }
            #expect(outcome.status == 200 && outcome.errorCode == nil && outcome.bytesReceived == 4)
        }

        @Test func `redirects, challenges and the cache are told of`() async throws {
            server.install(.authentication)
            server.install(.caching)
            server.route("GET", "/on", ServerReply.text("").status(302).header("Location", "/end?token=canary"))
            let session = URLSession.loopback { $0.eventMonitors = [tape] }

            _ = try await session.outcome(of: server.url("/on"))
            _ = try await tape.completed(1)
            #expect(tape.kinds.contains(.redirected(status: 302, to: server.url("/end").absoluteString + "?token=***")))
            #expect(tape.all.compactMap(\.exchange).max() == 2)

            _ = try await session.outcome(of: server.url("/basic-auth/u/p"))
            let events = try await tape.completed(2)
            let challenge = events.compactMap { event -> SessionEvent.Challenge? in
                if case .challenged(let challenge) = event.kind { challenge } else { nil }
            }.first
            #expect(challenge?.realm == "Fake Realm" && challenge?.host == "127.0.0.1" && challenge?.isProxy == false)

            for _ in 1...2 { _ = try await session.outcome(of: server.url("/cache/100")) }
            _ = try await tape.completed(4)
            #expect(tape.kinds.contains(.cacheStore) && tape.kinds.contains(.cacheHit))
            #expect(tape.all.filter { $0.task == 4 }.count == 4)
        }

        @Test func `suspending, resuming and cancelling are told of once each`() async throws {
            server.script(.expectRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .stall)
            let session = URLSession.loopback { $0.eventMonitors = [tape] }
            let task = session.dataTask(with: server.url("/")) { _, _, _ in }
            task.resume()
            try await tape.events.wait { $0.contains { $0.kind == .bytesReceived(total: 3) } }
            task.suspend()
            try await tape.events.wait { $0.contains { $0.kind == .suspended } }
            task.resume()
            try await tape.events.wait { $0.count { $0.kind == .resumed } == 2 }
            task.cancel()
            task.cancel()
            let events = try await tape.completed()

            #expect(events.count { $0.kind == .suspended } == 1 && events.count { $0.kind == .cancelled } == 1)
            guard case .completed(let outcome) = events.last(where: \.isCompletion)?.kind else { return }
            #expect(outcome.errorCode == .cancelled && outcome.bytesReceived == 3)
        }

        @Test func `a task that is cancelled before it runs has an end as well`() async throws {
            let session = URLSession.loopback { $0.eventMonitors = [tape] }
            session.dataTask(with: server.url("/end")).cancel()
            _ = try await tape.completed()
            #expect(tape.taskWords == ["created", "cancelled", "failed"])
        }

        @Test func `tls and its refusal are told of`() async throws {
            let site = try SecuredSite()
            let good = URLSession.loopback {
                $0.eventMonitors = [tape]
                $0.tls = site.tls
            }
            _ = try await good.outcome(of: site.server.url("/hello"))
            _ = try await tape.completed()
            #expect(tape.connectionWords.prefix(4) == ["connect", "connected", "tls", "tls"])

            let other = EventTape()
            let bad = URLSession.loopback {
                $0.eventMonitors = [other]
                $0.tls.anchors = .certificates([])
            }
            _ = try await bad.outcome(of: site.server.url("/hello"))
            _ = try await other.completed()
            #expect(other.connectionWords == ["connect", "connected", "tls", "failed:"])
        }

        @Test func `no event holds a secret`() async throws {
            server.install(.authentication)
            server.route("GET", "/on", ServerReply.text("").status(302).header("Location", "/end?access_token=canary"))
            let session = URLSession.loopback { configuration in
                configuration.eventMonitors = [tape]
                configuration.httpAdditionalHeaders = ["X-Api-Key": "canary"]
            }
            var components = URLComponents(
                url: server.url("/digest-auth/auth/user/right"),
                resolvingAgainstBaseURL: true
            )
            components?.user = "canary"
            components?.password = "canary"
            var request = URLRequest(url: try #require(components?.url))
            request.setValue("canary=canary", forHTTPHeaderField: "Cookie")
            _ = try await session.outcome(of: request)
            _ = try await session.outcome(
                of: URLRequest("GET", server.url("/on?sig=canary#canary"), fields: ["Authorization": "Bearer canary"])
            )

            for event in try await tape.completed(2) {
                var text = event.description
                dump(event, to: &text)
                #expect(!text.contains("canary"), "\(text)")
            }
        }

        // MARK: - In a virtual world

        @Test func `a request that is sent again is told of, and connections end`() throws {
            let plain = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
            let world = VirtualWorld()
            world.configure { $0.eventMonitors = [tape] }
            world.scripts(
                "api.test",
                [[.expectRequest, .reply(plain), .expectRequest, .close], [.expectRequest, .reply(plain), .again]]
            )
            world.load("http://api.test/1")
            world.load("http://api.test/2")
            world.run()

            #expect(tape.kinds.count { $0 == .retried } == 1)
            #expect(tape.all.filter { $0.task == 2 }.compactMap(\.exchange).max() == 2)
            #expect(tape.all.filter { $0.kind == .connectionClosed }.compactMap(\.connection).sorted() == [1, 2])
            #expect(world.finish() == [])
        }

        @Test(arguments: Scenario.allCases)
        func `whatever becomes of a task, its events begin and end as they should`(scenario: Scenario) {
            for steps in [3, 9, 14, 25, 1000] {
                let world = VirtualWorld()
                let tape = EventTape()
                world.configure { $0.eventMonitors = [tape] }
                scenario.prepare(world)
                let events = world.send(scenario.method, "http://api.test/", body: scenario.body)
                for _ in 0..<steps where !events.isComplete { _ = world.step(until: world.now + .seconds(600)) }
                events.task.cancel()
                world.run { events.isComplete }
                world.run(limit: .seconds(700))

                let own = tape.all.filter { $0.task == 1 }
                #expect(own.count(where: \.isCompletion) == 1 && own.last?.isCompletion == true, "\(scenario) \(steps)")
                if case .created = own.first?.kind {} else { Issue.record("\(scenario) \(steps)") }
                for connection in Set(tape.all.compactMap(\.connection)) {
                    let ends = tape.all.filter { event in
                        guard event.connection == connection, event.task == nil else { return false }
                        if case .connectionFailed = event.kind { return true }
                        return event.kind == .connectionClosed
                    }
                    #expect(ends.count == 1, "\(scenario) \(steps) connection \(connection)")
                }
                #expect(world.finish() == [])
            }
        }
    }

    @Suite("The mailbox of a monitor")
    struct Mailbox {
        /// Hears nothing until it is let go on.
        private final class Slow: SessionEventMonitor {
            let tape = EventTape()
            let gate = DispatchSemaphore(value: 0)
            let isOpen = Lock(false)
            let isAsked = Watched(false)

            func observe(_ event: SessionEvent) {
                isAsked.change { $0 = true }
                if !isOpen.withLock({ $0 }) { gate.wait() }
                tape.observe(event)
            }

            func open() {
                isOpen.withLock { $0 = true }
                for _ in 1...2 { gate.signal() }
            }
        }

        private func dispatcher(_ slow: Slow) throws -> EventDispatcher {
            try #require(EventDispatcher(monitors: [slow], in: .system))
        }

        @Test("events for a slow monitor are bounded, and missed ones counted, T-RES-48")
        func bounded() async throws {
            let slow = Slow()
            let dispatcher = try dispatcher(slow)
            let total = 20_000
            for number in 1...total { dispatcher.post(.retried, task: number) }
            dispatcher.post(.resumed, task: 0)
            slow.open()

            try await slow.tape.events.wait { $0.contains { $0.kind == .resumed } }
            let kinds = slow.tape.kinds
            let missed = kinds.reduce(0) { sum, kind in
                if case .missed(let count) = kind { sum + count } else { sum }
            }
            #expect(missed > 0 && missed + kinds.count { $0 == .retried } == total)
            #expect(kinds.count <= 2 * EventDispatcher.capacity)
        }

        @Test("counts of bytes come as one while a monitor is busy, and never overtake, T-RES-48")
        func coalesced() async throws {
            let slow = Slow()
            let dispatcher = try dispatcher(slow)
            dispatcher.post(.created(method: "GET", url: ""), task: 1)
            // The first is with the monitor; the others wait.
            try await slow.isAsked.wait { $0 }
            for count in 1...1000 { dispatcher.post(.bytesReceived(total: Int64(count)), task: 1, exchange: 1) }
            dispatcher.post(.suspended, task: 1, exchange: 1)
            for count in 1001...2000 { dispatcher.post(.bytesReceived(total: Int64(count)), task: 1, exchange: 1) }
            dispatcher.post(.resumed, task: 1, exchange: 1)
            slow.open()

            try await slow.tape.events.wait { $0.contains { $0.kind == .resumed } }
            let kinds = slow.tape.kinds.filter { $0 != .created(method: "GET", url: "") }
            let before = kinds.prefix { $0 != .suspended }
            #expect(before.count <= 2 && before.last == .bytesReceived(total: 1000))
            #expect(kinds.suffix(3) == [.suspended, .bytesReceived(total: 2000), .resumed])
        }

        @Test("lines of a log have no control characters, and go where they should")
        func lines() {
            let lines = Lock<[String]>([])
            let monitor = LoggingMonitor { line in lines.withLock { $0.append(line) } }
            let date = Date(timeIntervalSince1970: 0)
            monitor.observe(
                SessionEvent(kind: .connectionFailed(message: "no\n\u{1B}[31m\u{202E}x"), date: date, connection: 3)
            )
            monitor.observe(SessionEvent(kind: .bytesReceived(total: 1), date: date, task: 1))
            monitor.observe(
                SessionEvent(
                    kind: .response(status: 200, headBytes: 9),
                    date: date,
                    task: 1,
                    exchange: 2,
                    connection: 3
                )
            )

            #expect(
                lines.withLock { $0 } == [
                    "1970-01-01T00:00:00.000Z connection 3 failed: no\\u{a}\\u{1b}[31m\\u{202e}x",
                    "1970-01-01T00:00:00.000Z task 1.2 on connection 3 response 200, 9 bytes of head",
                ]
            )
        }

        @Test("a log can go to a text stream")
        func stream() {
            struct Paper: TextOutputStream, Sendable {
                let text = Watched("")
                mutating func write(_ string: String) { text.change { $0 += string } }
            }
            let paper = Paper()
            let monitor = LoggingMonitor(to: paper, includesBytes: true)
            monitor.observe(SessionEvent(kind: .bytesSent(total: 5), date: Date(timeIntervalSince1970: 0), task: 7))
            #expect(paper.text.value == "1970-01-01T00:00:00.000Z task 7 sent 5 bytes of the body\n")
        }

        @Test("without monitors there is no dispatcher")
        func absent() {
            #expect(EventDispatcher(monitors: [], in: .system) == nil)
        }
    }
}
