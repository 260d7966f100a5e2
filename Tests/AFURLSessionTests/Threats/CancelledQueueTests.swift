@Suite("Queues whose operations the program cancels")
struct CancelledQueueTests {
    @Test("callbacks are made whatever becomes of the operations of their queue, T-API-01", arguments: [1, 4])
    func cancelled(width: Int) async throws {
        let server = try TestServer()
        server.route("GET", "/1", .text("x"))
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = width
        queue.isSuspended = true
        let session = URLSession.loopback(queue: queue)
        let outcomes = Outcomes()
        session.dataTask(with: server.url("/1"), completionHandler: outcomes.handler).resume()
        try await eventually { queue.operationCount > 0 }

        queue.cancelAllOperations()
        queue.isSuspended = false

        #expect(try await outcomes.wait(for: 1, seconds: 20).first?.text == "x")
        #expect(try await session.outcome(of: server.url("/1"), seconds: 20).text == "x")
        try await eventually { queue.operationCount == 0 }
    }

    @Test(arguments: [1, 4])
    func `T-API-01 a source of events calls back even if the program cancels what its queue holds`(width: Int)
        async throws
    {
        let server = try TestServer()
        server.route("GET", "/events", .events("data: a", "data: b"))
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = width
        queue.isSuspended = true
        let heard = Watched<[String]>([])
        var options = EventStreamOptions()
        options.reconnection = .never
        let request = URLRequest(url: server.url("/events"))
        let source = EventStreamReader(request, session: URLSession.loopback(queue: queue), options: options) { event in
            heard.change { $0.append(event.data) }
        } completion: { _ in
            heard.change { $0.append("end") }
        }
        source.resume()
        try await eventually { queue.operationCount > 0 }

        queue.cancelAllOperations()
        queue.isSuspended = false

        #expect(try await heard.wait("the end") { $0.last == "end" } == ["a", "b", "end"])
    }
}
