@testable import AFURLSession
@testable import AFURLTypes

extension MonitoringTests {
    /// Who was resumed has metrics, once, and before its completion.
    @Suite("Metrics before completions")
    struct MetricsOrder {
        private let server: TestServer

        init() throws {
            server = try TestServer()
            server.route("GET", "/hello", .text("hello"))
            server.route("POST", "/hello", .text("hello"))
            server.route("GET", "/held", ServerReply.text("late").held(until: "go"))
            server.route("GET", "/cut", .text("twelve bytes").closing(after: 6))
        }

        // MARK: - Awaited

        enum Style: CaseIterable, Sendable {
            case data, upload, download, bytes, failure
        }

        private func run(_ style: Style, _ session: URLSession, _ delegate: EventLog?) async throws {
            switch style {
            case .data: _ = try await session.data(from: server.url("/hello"), delegate: delegate)
            case .upload:
                let request = URLRequest("POST", server.url("/hello"))
                _ = try await session.upload(for: request, from: Data("body".utf8), delegate: delegate)
            case .download:
                let (file, _) = try await session.download(from: server.url("/hello"), delegate: delegate)
                try FileManager.default.removeItem(at: file)
            case .bytes:
                let (bytes, _) = try await session.bytes(from: server.url("/hello"), delegate: delegate)
                for try await _ in bytes {}
            case .failure:
                await #expect(throws: URLError.self) {
                    _ = try await session.data(from: server.url("/cut"), delegate: delegate)
                }
            }
        }

        @Test(arguments: Style.allCases, [false, true])
        func `T-API-34 a call that awaits a task returns after the delegate's method for metrics`(
            style: Style,
            isTasksOwn: Bool
        ) async throws {
            let (log, queue) = (EventLog(), OperationQueue())
            queue.maxConcurrentOperationCount = 1
            let session = URLSession.loopback(delegate: isTasksOwn ? nil : log, queue: queue)
            queue.isSuspended = true

            let heard = Task {
                try await run(style, session, isTasksOwn ? log : nil)
                return log.events.value.count { $0 == .metrics }
            }
            // The task has ended, and what it has to say waits for the queue.
            try await eventually { queue.operationCount > 0 }
            await session.settled()
            queue.isSuspended = false

            #expect(try await heard.value == 1)
        }

        @Test func `T-API-34 a collector has the metrics although the delegate queue stands still`() async throws {
            let queue = OperationQueue()
            let session = URLSession.loopback(queue: queue)
            queue.isSuspended = true
            defer { queue.isSuspended = false }
            let collector = TaskMetricsCollector()

            _ = try await session.data(from: server.url("/hello"), delegate: collector)
            #expect(collector.metrics?.transactionMetrics.count == 1)
        }

        // MARK: - Cancelled

        @Test func `T-API-34 a task that is cancelled as soon as it was resumed has metrics without transactions`()
            async throws
        {
            let (log, own) = (EventLog(), EventLog())
            let session = URLSession.loopback(delegate: log)
            let data = session.dataTask(with: server.url("/held"))
            let download = session.downloadTask(with: server.url("/held"))
            let stream = session.streamTask(withHostName: "127.0.0.1", port: Int(server.port))
            download.delegate = own
            for task in [data, download, stream] {
                task.keepsMetrics = true
                task.resume()
                task.cancel()
            }

            #expect(try await own.finished() == [.metrics, .completed(-999)])
            #expect(try await log.finished(2) == [.metrics, .completed(-999), .metrics, .completed(-999)])
            for task in [data, download, stream] {
                let metrics = try #require(task.metrics)
                #expect(metrics.transactionMetrics.count <= 1 && metrics.taskInterval.duration >= 0)
            }
        }

        @Test func `T-API-34 a cancelled task with a handler has its metrics before the handler is called`()
            async throws
        {
            let order = Watched<[String]>([])
            let log = EventLog { event, _ in order.change { $0.append("\(event)") } }
            let session = URLSession.loopback(delegate: log)
            let task = session.dataTask(with: server.url("/held")) { _, _, _ in order.change { $0.append("handler") } }
            task.resume()
            task.cancel()

            #expect(try await order.wait { $0.contains("handler") } == ["metrics", "handler"])
        }

        @Test func `T-API-34 a task that never ran has no metrics`() async throws {
            let log = EventLog()
            let session = URLSession.loopback(delegate: log)
            let cancelled = session.dataTask(with: server.url("/held"))
            cancelled.cancel()
            cancelled.resume()

            #expect(try await log.finished() == [.completed(-999)])
            #expect(cancelled.metrics == nil)
        }

        @Test func `T-API-34 a task of an invalidated session has metrics if it was resumed`() async throws {
            let (log, own) = (EventLog(), EventLog())
            let session = URLSession.loopback(delegate: log)
            let early = session.dataTask(with: server.url("/held"))
            early.resume()
            session.invalidateAndCancel()
            #expect(try await log.events.wait { $0.contains(.invalid) } == [.metrics, .completed(-999), .invalid])

            let late = session.dataTask(with: server.url("/held"))
            late.delegate = own
            late.resume()
            #expect(try await own.finished() == [.metrics, .completed(-999)])
        }
    }
}
