import AFLoop
import Foundation

@testable import AFTransport

@Suite("Asking before a body is sent")
final class ExpectationTests: TransferSuite {
    private static let plain = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    private let body = Data((0..<5000).map { UInt8(truncatingIfNeeded: $0) })

    @Test func `T-MSG-39 the body follows the 100 at once`() {
        var received: [Data] = []
        world.respond("api.test") { request, moment, client in
            if moment == .head { return client.after(.milliseconds(10)) { $0.send("HTTP/1.1 100 Continue\r\n\r\n") } }
            received.append(Data(request.body))
            client.send(Self.plain)
        }

        let events = world.send("PUT", "http://api.test/", body: body, fields: ["Expect": "100-continue"])
        world.run(limit: .milliseconds(100)) { events.isComplete }

        #expect(events.all == [.response(200), .data(2), .finished])
        #expect(received == [body])
    }

    @Test(arguments: [nil, 0.25, 0])
    func `T-MSG-39 a body is sent without a 100 when the time is over`(timeout: Double?) {
        if let timeout { world.settings.pool.continueTimeout = timeout }
        var moments: [Duration] = []
        let start = world.now
        world.respond("api.test") { [unowned world] _, moment, client in
            moments.append(start.duration(to: world.now))
            if moment == .complete { client.send(Self.plain) }
        }

        let events = world.send("PUT", "http://api.test/", body: body, fields: ["Expect": "100-continue"])
        world.run(events)

        #expect(events.all.last == .finished)
        #expect(moments == [.zero, .seconds(timeout ?? 1)])
    }

    @Test(arguments: [200, 401, 413])
    func `T-MSG-39 a final answer instead of a 100 gets no body, and the connection no other request`(status: Int) {
        world.respond("api.test") { request, moment, client in
            guard moment == .head || request.method == "GET" else { return }
            client.send("HTTP/1.1 \(moment == .head ? status : 200) X\r\nContent-Length: 2\r\n\r\nno")
        }

        let events = world.send("PUT", "http://api.test/", body: body, fields: ["Expect": "100-continue"])
        world.run(limit: .milliseconds(500)) { events.isComplete }
        let next = world.load("http://api.test/next")

        #expect(events.all == [.response(status), .data(2), .finished])
        #expect(events.sent.isEmpty)
        #expect(next.all.last == .finished)
        #expect(world.network.connections.count == 2)
    }

    @Test func `cancelling while the server thinks leaves no timer`() {
        world.respond("api.test") { _, _, _ in }
        let events = world.send("PUT", "http://api.test/", body: body, fields: ["Expect": "100-continue"])
        world.advance(by: .milliseconds(500))

        events.cancel()
        world.run(limit: .milliseconds(1)) { events.isComplete }

        #expect(events.all.isEmpty)
        #expect(events.sent.isEmpty)
    }
}
