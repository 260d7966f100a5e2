import AFTestFixtures
import AFURLSession
import AFVirtualWorld
import Foundation
import Testing

@Suite("Asking before a body is sent")
struct ExpectationTests {
    private static let plain = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    private let body = UploadFolder.pattern(5000)

    private func world(
        above: Int64? = nil,
        timeout: Double? = nil,
        fields: [String: String] = [:]
    ) -> VirtualWorld {
        let world = VirtualWorld()
        world.configure { configuration in
            configuration.httpAdditionalHeaders = fields
            configuration.expectsContinueAbove = above
            if let timeout { configuration.continueTimeout = timeout }
        }
        return world
    }

    @Test func `T-MSG-39 the body follows the 100 at once`() {
        let world = world()
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
        #expect(world.finish() == [])
    }

    @Test(arguments: [nil, 0.25, 0])
    func `T-MSG-39 a body is sent without a 100 when the time is over`(timeout: Double?) {
        let world = world(timeout: timeout)
        var moments: [Duration] = []
        let start = world.now
        world.respond("api.test") { _, moment, client in
            moments.append(start.duration(to: world.now))
            if moment == .complete { client.send(Self.plain) }
        }

        let events = world.send("PUT", "http://api.test/", body: body, fields: ["Expect": "100-continue"])
        world.run { events.isComplete }

        #expect(events.all.last == .finished)
        #expect(moments == [.zero, .seconds(timeout ?? 1)])
        #expect(world.finish() == [])
    }

    @Test(arguments: [200, 401, 413])
    func `T-MSG-39 a final answer instead of a 100 gets no body, and the connection no other request`(status: Int) {
        let world = world()
        world.respond("api.test") { request, moment, client in
            guard moment == .head || request.method == "GET" else { return }
            client.send("HTTP/1.1 \(moment == .head ? status : 200) X\r\nContent-Length: 2\r\n\r\nno")
        }

        let events = world.send("PUT", "http://api.test/", body: body, fields: ["Expect": "100-continue"])
        world.run(limit: .milliseconds(500)) { events.isComplete }
        let next = world.load("http://api.test/next")

        #expect(events.all == [.response(status), .data(2), .finished])
        #expect(events.task.countOfBytesSent == 0)
        #expect(next.all.last == .finished)
        #expect(world.network.connections.count == 2)
        #expect(world.finish() == [])
    }

    @Test func `T-MSG-39 an expectation of the session keeps the bodies of its requests back`() {
        let world = world(fields: ["Expect": "100-continue"])
        var expected: [String?] = []
        world.respond("api.test") { request, moment, client in
            if moment == .head { return client.after(.milliseconds(10)) { $0.send("HTTP/1.1 100 Continue\r\n\r\n") } }
            expected.append(request.headers.first("Expect"))
            client.send(Self.plain)
        }
        let start = world.now

        let events = world.send("PUT", "http://api.test/", body: body)
        world.run { events.isComplete }
        #expect(start.duration(to: world.now) == .milliseconds(10))
        let bodiless = world.load("http://api.test/")

        #expect(events.all.last == .finished && bodiless.all.last == .finished)
        #expect(expected == ["100-continue", nil])
        #expect(world.finish() == [])
    }

    enum Asker: CaseIterable {
        case request, limit, session
    }

    @Test(arguments: Asker.allCases)
    func `T-MSG-40 after a 417 the request is sent once more without asking`(asker: Asker) {
        let own = ["expect": "100-Continue"]
        let world = world(above: asker == .limit ? 100 : nil, fields: asker == .session ? own : [:])
        var heads: [String?] = []
        var bodies: [Data] = []
        world.respond("api.test") { request, moment, client in
            if moment == .head {
                heads.append(request.headers.first("Expect"))
                if heads.count == 1 { client.send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n") }
                return
            }
            bodies.append(Data(request.body))
            client.send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n")
        }

        let events = world.send("POST", "http://api.test/", body: body, fields: asker == .request ? own : [:])
        world.run { events.isComplete }

        #expect(events.all == [.response(417), .finished])
        #expect(heads.map { $0 != nil } == [true, false])
        #expect(bodies == [body])
        #expect(world.finish() == [])
    }

    @Test(arguments: [(4999, true), (5000, false), (nil, false)] as [(Int64?, Bool)])
    func `bodies above the limit are asked for`(above: Int64?, isAsked: Bool) {
        let world = world(above: above)
        var asked: [Bool] = []
        world.respond("api.test") { request, moment, client in
            guard moment == .complete else { return }
            asked.append(request.headers.first("Expect") == "100-continue")
            client.send(Self.plain)
        }

        let known = world.send("PUT", "http://api.test/", body: body)
        world.run { known.isComplete }
        var request = URLRequest("PUT", URL(fileURLWithPath: "/"))
        request.url = URL(string: "http://api.test/")
        request.httpBodyStream = InputStream(data: Data([1]))
        let unknown = world.session.dataTask(with: request)
        unknown.resume()
        world.run { unknown.state == .completed }
        let bodiless = world.load("http://api.test/")

        #expect(bodiless.all.last == .finished)
        #expect(asked == [isAsked, above != nil, false])
        #expect(world.finish() == [])
    }

    @Test func `cancelling while the server thinks leaves no timer`() {
        let world = world()
        world.respond("api.test") { _, _, _ in }
        let events = world.send("PUT", "http://api.test/", body: body, fields: ["Expect": "100-continue"])
        world.advance(by: .milliseconds(500))

        events.task.cancel()
        world.run(limit: .milliseconds(1)) { events.isComplete }

        #expect(events.all == [.failed(.cancelled)])
        #expect(events.task.countOfBytesSent == 0)
        #expect(world.finish() == [])
    }
}
