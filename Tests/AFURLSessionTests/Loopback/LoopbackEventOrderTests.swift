import Glibc

extension LoopbackTests {
    /// The exact sequence of callbacks of one task, in each style.
    struct EventOrder {
        private let server: TestServer
        private static let body = Data(repeating: 0x61, count: 1000)
        private let log = EventLog()
        private let session = URLSession.loopback()

        init() throws {
            server = try TestServer()
            server.route("GET", "/hello", .text("hello"))
            server.route("GET", "/empty", .status(204))
            server.route("GET", "/same", .status(304))
            server.route("GET", "/missing", .text("gone").status(404))
            server.route("POST", "/echo") { .data($0.body) }
        }

        @Test(
            arguments: [
                ("GET", "/hello", [.response(200), .data("hello"), .metrics, .completed(nil)]),
                ("HEAD", "/hello", [.response(200), .metrics, .completed(nil)]),
                ("GET", "/empty", [.response(204), .metrics, .completed(nil)]),
                ("GET", "/same", [.response(304), .metrics, .completed(nil)]),
                ("GET", "/missing", [.response(404), .data("gone"), .metrics, .completed(nil)]),
            ] as [(String, String, [EventLog.Event])]
        )
        func `T-API-06 a delegate hears response, data, metrics, completion`(
            method: String,
            path: String,
            expected: [EventLog.Event]
        ) async throws {
            let session = URLSession.loopback(delegate: log)

            session.dataTask(with: URLRequest(method, server.url(path))).resume()

            #expect(try await log.finished() == expected)
        }

        @Test func `a task's own delegate without use for data leaves it to the session's`() async throws {
            final class Own: URLSessionTaskDelegate {
                let completions = Watched(0)

                func urlSession(_: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
                    completions.change { $0 += 1 }
                }
            }
            let (log, own) = (EventLog(), Own())
            let session = URLSession.loopback(delegate: log)
            let task = session.dataTask(with: server.url("/hello"))
            task.delegate = own

            task.resume()

            try await own.completions.wait("its completion") { $0 == 1 }
            #expect(log.events.value == [.response(200), .data("hello"), .metrics])
        }

        @Test func `a callback overtakes no operation that waits in the session's own queue`() async throws {
            let order = Watched<[String]>([])
            session.delegateQueue.isSuspended = true
            session.delegateQueue.addOperation { order.change { $0.append("operation") } }
            let task = session.dataTask(with: server.url("/hello")) { _, _, _ in order.change { $0.append("callback") }
            }

            task.resume()
            try await eventually { task.countOfBytesReceived == 5 }
            await session.settled()
            #expect(order.value.isEmpty)
            session.delegateQueue.isSuspended = false

            #expect(try await order.wait("both") { $0.count == 2 } == ["operation", "callback"])
        }

        @Test func `an upload is reported before the response`() async throws {
            let session = URLSession.loopback(delegate: log)

            session.dataTask(with: URLRequest("POST", server.url("/echo"), body: Self.body)).resume()

            let text = String(decoding: Self.body, as: UTF8.self)
            #expect(
                try await log.finished() == [
                    .sent(1000, of: 1000), .response(200), .data(text), .metrics, .completed(nil),
                ]
            )
        }

        @Test func `upload progress rises to the whole and never beyond`() async throws {
            let size: Int64 = 8 << 20
            let session = URLSession.loopback(delegate: log)
            server.route("PUT", "/big") { .text("\($0.bodyByteCount)") }

            let task = session.dataTask(with: URLRequest("PUT", server.url("/big"), body: Data(count: Int(size))))
            task.resume()

            let sent = try await log.finished().compactMap { event in
                if case .sent(let total, let expected) = event, expected == size { total } else { nil }
            }
            #expect(sent == sent.sorted() && Set(sent).count == sent.count)
            #expect(sent.last == size)
            #expect(task.countOfBytesSent == size && task.countOfBytesExpectedToSend == size)
            #expect(log.bodies.withLock { $0 } == Data("\(size)".utf8))
        }

        @Test func `T-API-23 a task with a completion handler sends its delegate no response and no data`() async throws
        {
            let session = URLSession.loopback(delegate: log)

            let outcome = try await session.outcome(of: server.url("/hello"))
            session.finishTasksAndInvalidate()

            #expect(outcome.text == "hello" && outcome.status == 200 && outcome.error == nil)
            #expect(try await log.events.wait { $0.contains(.invalid) } == [.metrics, .invalid])
        }

        @Test func `a completion handler gets what a delegate would have`() async throws {
            let head = try await session.outcome(of: URLRequest("HEAD", server.url("/hello")))
            let empty = try await session.outcome(of: server.url("/empty"))
            let missing = try await session.outcome(of: server.url("/missing"))

            #expect(head.status == 200 && head.data == Data() && head.error == nil)
            #expect(empty.status == 204 && empty.data == Data() && empty.error == nil)
            #expect(missing.status == 404 && missing.text == "gone" && missing.error == nil)
        }

        @Test func `async loading returns what a completion handler would get`() async throws {

            let (data, response) = try await session.data(from: server.url("/missing"), delegate: log)

            #expect(String(decoding: data, as: UTF8.self) == "gone")
            #expect((response as? HTTPURLResponse)?.statusCode == 404)
            #expect(try await log.events.wait { !$0.isEmpty } == [.metrics])
        }

        @Test func `T-API-06 no callback follows the completion of a failed task`() async throws {
            let session = URLSession.loopback(delegate: log)
            server.route("GET", "/cut", .text("twelve bytes").closing(after: 6))

            session.dataTask(with: server.url("/cut")).resume()
            _ = try await log.finished()
            session.finishTasksAndInvalidate()

            let events = try await log.events.wait { $0.contains(.invalid) }
            #expect(events == [.response(200), .data("twelve"), .metrics, .completed(-1005), .invalid])
        }

        @Test func `T-MSG-51 a refused response completes as cancelled and its connection is closed`() async throws {
            let log = EventLog(disposition: .cancel)
            let session = URLSession.loopback(delegate: log)
            server.route("GET", "/endless") { _ in .stream(.generated { _ in [UInt8](repeating: 0, count: 65536) }) }

            session.dataTask(with: server.url("/endless")).resume()

            #expect(try await log.finished() == [.response(200), .metrics, .completed(-999)])
            _ = try await server.waitForEnd(ofConnection: 1)
            #expect(server.acceptedConnections == 1)
        }

        @Test(arguments: [63 << 10, 65 << 10])
        func `T-MSG-51 a body without a receiver is drained in full`(size: Int) async throws {
            // A session without a delegate takes the body from the wire and drops it.
            server.route("GET", "/size") { _ in .stream(.repeating("x", count: size)) }

            let task = session.dataTask(with: server.url("/size"))
            task.resume()
            let after = try await session.outcome(of: server.url("/hello"))

            #expect(after.text == "hello")
            session.finishTasksAndInvalidate()
            try await server.waitUntilIdle()
            #expect(task.state == .completed && task.error == nil && task.countOfBytesReceived == size)
        }

        @Test func `events of one session come one at a time on a concurrent queue`() async throws {
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 8
            let inside = Watched(0)
            let overlaps = Watched(0)
            let log = EventLog { _, _ in
                if inside.change({
                    $0 += 1; return $0
                }) > 1 {
                    overlaps.change { $0 += 1 }
                }
                usleep(200)
                inside.change { $0 -= 1 }
            }
            let session = URLSession.loopback(delegate: log, queue: queue)

            for _ in 1...40 { session.dataTask(with: server.url("/hello")).resume() }

            let events = try await log.finished(40)
            #expect(overlaps.value == 0)
            #expect(events.count == 160)
        }

        @Test func `callbacks come on the queue that was given`() async throws {
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            let queues = Watched<Set<Bool>>([])
            let log = EventLog { _, _ in queues.change { _ = $0.insert(OperationQueue.current === queue) } }
            let session = URLSession.loopback(delegate: log, queue: queue)

            session.dataTask(with: server.url("/hello")).resume()
            _ = try await log.finished()
            session.invalidateAndCancel()
            _ = try await log.events.wait { $0.contains(.invalid) }

            #expect(session.delegateQueue === queue)
            #expect(try await queues.wait { _ in true } == [true])
        }
    }
}
