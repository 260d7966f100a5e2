extension LoopbackTests {
    /// Which connection serves which request.
    struct Connections {
        private let server: TestServer

        init() throws {
            server = try TestServer()
            server.route("GET", "/hello", .text("hello"))
            server.route("GET", "/n/:n", .text("n"))
            server.route("GET", "/held/a", ServerReply.text("a").held(until: "a"))
        }

        @Test func `requests one after the other share a connection`() async throws {
            let session = URLSession.loopback()

            for _ in 1...20 { _ = try await session.data(from: server.url("/hello")) }

            #expect(server.acceptedConnections == 1)
            #expect(server.requests.map(\.indexOnConnection) == Array(0..<20))
        }

        @Test func `waiting tasks are served by priority and then in order`() async throws {
            let session = URLSession.loopback { $0.httpMaximumConnectionsPerHost = 1 }
            let outcomes = Outcomes()
            session.dataTask(with: server.url("/held/a"), completionHandler: outcomes.handler).resume()
            try await server.waitForConnections(1)

            let priorities: [Float] = [0.5, 0.25, 0.75, 0.5, 1, 0, 0.75]
            let tasks = priorities.enumerated().map { number, priority in
                let task = session.dataTask(with: server.url("/n/\(number)"), completionHandler: outcomes.handler)
                task.priority = priority
                task.resume()
                return task
            }
            // Changed while it waits.
            tasks[5].priority = 0.9
            await session.settled()
            server.signal("a")

            _ = try await outcomes.wait(for: 8)
            #expect(server.requests.dropFirst().map(\.path) == [4, 5, 2, 6, 0, 3, 1].map { "/n/\($0)" })
        }

        @Test func `sessions do not share connections`() async throws {
            for _ in 1...3 { _ = try await URLSession.loopback().data(from: server.url("/hello")) }

            #expect(server.acceptedConnections == 3)
        }

        @Test func `an idle connection is closed after its time`() async throws {
            let session = URLSession.loopback { $0.idleConnectionTimeout = 0.05 }

            _ = try await session.data(from: server.url("/hello"))

            #expect(try await server.waitForEnd(ofConnection: 1) == .clientClosed)
            _ = try await session.data(from: server.url("/hello"))
            #expect(server.acceptedConnections == 2)
        }

        @Test func `a connection past its age serves no further request`() async throws {
            let session = URLSession.loopback { $0.maximumConnectionAge = 0 }

            for _ in 1...3 { _ = try await session.data(from: server.url("/hello")) }

            #expect(server.requests.map(\.connection) == [1, 2, 3])
        }

        @Test func `the surplus of idle connections is closed, the longest idle first`() async throws {
            let session = URLSession.loopback { configuration in
                configuration.maximumIdleConnections = 1
                configuration.httpMaximumConnectionsPerHost = 1
            }
            let others = try (1...3).map { _ in try TestServer() }
            for other in others {
                other.route("GET", "/hello", .text("hello"))
                _ = try await session.data(from: other.url("/hello"))
            }

            try await others[0].waitForEnd(ofConnection: 1)
            try await others[1].waitForEnd(ofConnection: 1)
            #expect(others[2].openConnections == 1)
        }

        @Test func `T-RES-42 a callback that blocks holds up no other session`() async throws {
            let gate = DispatchSemaphore(value: 0)
            let inside = Watched(false)
            let slow = EventLog { _, _ in
                inside.change { $0 = true }
                _ = gate.wait(timeout: .now() + 10)
            }
            let blocked = URLSession.loopback(delegate: slow)
            blocked.dataTask(with: server.url("/hello")).resume()
            _ = try await inside.wait { $0 }

            for _ in 1...20 { _ = try await URLSession.loopback().data(from: server.url("/hello")) }
            // Not even those who await in the same session.
            _ = try await blocked.data(from: server.url("/hello"))

            for _ in 1...10 { gate.signal() }
            _ = try await slow.finished()
        }

        @Test
        func `T-API-13 a callback may wait for another session and an await of its own, but for no handler of its own`()
            async throws
        {
            let (url, queue, other) = (server.url("/hello"), OperationQueue(), URLSession.loopback())
            queue.maxConcurrentOperationCount = 4
            let session = URLSession.loopback(queue: queue)
            let notes = Watched<[String]>([])
            @Sendable func note(_ what: String) { notes.change { $0.append(what) } }
            @Sendable func wait(_ what: String, for start: (@escaping @Sendable () -> Void) -> Void) {
                let done = DispatchSemaphore(value: 0)
                start { done.signal() }
                note(done.wait(timeout: .now() + 30) == .success ? what : "\(what) in vain")
            }

            session.dataTask(with: url) { [server] _, _, _ in
                session.dataTask(with: url) { _, _, _ in note("handler") }.resume()
                wait("other") { done in other.dataTask(with: url) { _, _, _ in done() }.resume() }
                wait("await") { done in
                    Task {
                        _ = try? await session.data(from: url)
                        done()
                    }
                }
                // The one whose handler has to wait was loaded all the same.
                let limit = ContinuousClock.now + .seconds(30)
                while server.requests.count < 4, ContinuousClock.now < limit { usleep(1000) }
                note("back")
            }.resume()

            #expect(try await notes.wait { $0.contains("handler") } == ["other", "await", "back", "handler"])
            #expect(server.requests.count == 4)
        }

        // MARK: - Metrics

        @Test func `T-API-34 the stamps of a task's metrics rise, and phases that did not happen have none`()
            async throws
        {
            let log = EventLog()
            let session = URLSession.loopback(delegate: log)
            let url = try #require(URL(string: "http://localhost:\(server.port)/hello"))

            for reused in [false, true] {
                log.metrics.withLock { $0 = nil }
                session.dataTask(with: url).resume()
                _ = try await log.finished(reused ? 2 : 1)

                let metrics = try #require(log.metrics.withLock { $0 })
                let transaction = try #require(metrics.transactionMetrics.first)
                let setup = [
                    transaction.domainLookupStartDate, transaction.domainLookupEndDate, transaction.connectStartDate,
                    transaction.connectEndDate,
                ]
                let exchange = [
                    transaction.requestStartDate, transaction.requestEndDate, transaction.responseStartDate,
                    transaction.responseEndDate,
                ]
                #expect(metrics.transactionMetrics.count == 1 && transaction.isReusedConnection == reused)
                #expect(setup.compactMap { $0 }.count == (reused ? 0 : 4))
                let stamps = ([transaction.fetchStartDate] + setup + exchange).compactMap { $0 }
                #expect(stamps == stamps.sorted() && stamps.count == (reused ? 5 : 9))
                #expect(metrics.taskInterval.start <= stamps[0] && metrics.taskInterval.end >= stamps[stamps.count - 1])
                #expect(transaction.countOfResponseBodyBytesReceived == 5 && transaction.remotePort == Int(server.port))
                #expect(transaction.networkProtocolName == "http/1.1" && transaction.resourceFetchType == .networkLoad)
            }
        }

        @Test func `T-API-34 the metrics of a failed connection have no exchange`() async throws {
            let log = EventLog()
            let gone = try TestServer()
            gone.stop()

            URLSession.loopback(delegate: log).dataTask(with: gone.url()).resume()

            #expect(try await log.finished() == [.metrics, .completed(-1004)])
            let transaction = try #require(log.metrics.withLock { $0 }?.transactionMetrics.first)
            #expect(transaction.fetchStartDate != nil && transaction.connectStartDate != nil)
            #expect(transaction.requestStartDate == nil && transaction.responseStartDate == nil)
            #expect(transaction.domainLookupStartDate == nil && transaction.response == nil)
            #expect(transaction.resourceFetchType == .unknown)
        }
    }
}
