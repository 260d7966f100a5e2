extension LoopbackTests {
    /// Swift concurrency, and many threads at once.
    struct Concurrency {
        private let server: TestServer

        init() throws {
            server = try TestServer()
            server.route("GET", "/hello", .text("hello"))
            server.route("GET", "/held", ServerReply.text("late").held(until: "go"))
        }

        @Test func `T-API-24 an async load cancelled before it starts fails as cancelled`() async throws {
            let (session, url) = (URLSession.loopback(), server.url("/hello"))

            let load = Task {
                while !Task.isCancelled { await Task.yield() }
                return try await session.data(from: url)
            }
            load.cancel()

            await #expect(throws: URLError.self) { try await load.value }
            #expect(server.acceptedConnections == 0)
        }

        @Test func `T-API-24 an async load cancelled under way fails as cancelled and leaves its connection`()
            async throws
        {
            let (session, url) = (URLSession.loopback(), server.url("/held"))
            let load = Task { try await session.data(from: url) }
            try await server.waitForRequests(0)
            try await server.waitForConnections(1)

            load.cancel()

            let error = await #expect(throws: URLError.self) { try await load.value }
            #expect(error?.code == .cancelled)
            server.signal("go")
            try await server.waitUntilIdle()
        }

        @Test func `T-API-24 an async load cancelled after its end has its result`() async throws {
            let (session, url) = (URLSession.loopback(), server.url("/hello"))
            let load = Task { try await session.data(from: url).0 }
            let data = try await load.value

            load.cancel()

            #expect(data == Data("hello".utf8))
        }

        @Test func `T-API-24 async loads cancelled at any moment end exactly once`() async throws {
            let (session, url) = (URLSession.loopback(), server.url("/hello"))

            let results = await withTaskGroup(of: String.self) { group in
                for number in 0..<300 {
                    group.addTask {
                        let load = Task { try await session.data(from: url).0 }
                        for _ in 0..<number % 30 { await Task.yield() }
                        if number % 3 != 0 { load.cancel() }
                        do {
                            return String(decoding: try await load.value, as: UTF8.self)
                        } catch {
                            return "\((error as? URLError)?.code.rawValue ?? 0)"
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }

            #expect(results.count == 300 && Set(results).isSubset(of: ["hello", "-999"]))
            #expect(results.count { $0 == "hello" } >= 100)
        }

        @Test @MainActor func `T-API-25 a caller on the main actor may pass closures and await`() async throws {
            final class Screen {
                var text = ""
            }
            let screen = Screen()
            let session = URLSession.loopback()

            let (data, _) = try await session.data(from: server.url("/hello"))
            screen.text = String(decoding: data, as: UTF8.self)
            let heard: String = await withCheckedContinuation { continuation in
                session.dataTask(with: server.url("/hello")) { data, _, _ in
                    continuation.resume(returning: String(decoding: data ?? Data(), as: UTF8.self))
                }.resume()
            }

            #expect(screen.text == "hello" && heard == "hello")
        }

        @Test func `T-API-15 sixteen threads may use every mutable property at once`() async throws {
            let configuration = URLSessionConfiguration.default
            let session = URLSession(configuration: configuration)
            let outcomes = Outcomes()
            let tasks = (1...16).map { _ in
                session.dataTask(with: server.url("/hello"), completionHandler: outcomes.handler)
            }
            let log = EventLog()

            DispatchQueue.concurrentPerform(iterations: 16) { number in
                for round in 0..<100 {
                    Self.mutate(configuration, round)
                    session.sessionDescription = "\(round)"
                    let task = tasks[(number + round) % tasks.count]
                    task.priority = Float(round) / 100
                    task.taskDescription = "\(round)"
                    task.delegate = round.isMultiple(of: 2) ? log : nil
                    _ = (task.state, task.response, task.error, task.progress.fractionCompleted, task.currentRequest)
                    _ = (task.countOfBytesReceived, task.countOfBytesSent, session.configuration, session.delegate)
                    if round == 50 { task.resume() }
                    if round == 60 { task.suspend() }
                    if round == 70 { task.resume() }
                }
            }
            for task in tasks { while task.state == .suspended { task.resume() } }

            #expect(try await outcomes.wait(for: 16).allSatisfy { $0.text == "hello" })
        }

        private static func mutate(_ configuration: URLSessionConfiguration, _ round: Int) {
            configuration.timeoutIntervalForRequest = Double(round)
            configuration.timeoutIntervalForResource = Double(round)
            configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
            configuration.httpAdditionalHeaders = ["X": "\(round)"]
            configuration.httpMaximumConnectionsPerHost = round
            configuration.maximumIdleConnections = round
            configuration.idleConnectionTimeout = Double(round)
            configuration.maximumConnectionAge = Double(round)
            configuration.maximumBodyInMemory = round
            configuration.unixDomainSocketPath = "/\(round)"
            _ = (configuration.copied(), configuration.httpAdditionalHeaders)
        }

        @Test func `T-API-30 thousands of tasks made and cancelled at random end exactly once`() async throws {
            let count = 10_000
            let session = URLSession.loopback()
            let ends = Watched<[Int: Int]>([:])
            let codes = Watched<Set<Int>>([])

            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                var random = SystemRandomNumberGenerator()
                for number in stride(from: thread, to: count, by: 4) {
                    let task = session.dataTask(with: server.url("/hello")) { data, _, error in
                        codes.change { _ = $0.insert((error as? URLError)?.code.rawValue ?? data?.count ?? 0) }
                        ends.change { $0[number, default: 0] += 1 }
                    }
                    switch random.next(upperBound: 8 as UInt32) {
                    case 0: task.cancel()
                    case 1:
                        task.resume()
                        task.cancel()
                    case 2:
                        task.resume()
                        task.suspend()
                        task.resume()
                    default: task.resume()
                    }
                }
            }

            let all = try await ends.wait(seconds: 60) { $0.count == count }
            #expect(all.values.allSatisfy { $0 == 1 })
            #expect(codes.value.isSubset(of: [5, -999]))
            #expect(await session.allTasks.isEmpty)
        }
    }
}
