import AFNetworkingTesting
import AFTestSupport
import AFURLSession
import Foundation
import Testing

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
}
