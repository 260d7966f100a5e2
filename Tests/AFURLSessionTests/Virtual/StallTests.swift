import AFLoop
import AFURLSession
import AFVirtualWorld
import Foundation
import Testing

@Suite("Peers that stall")
struct StallTests {
    enum Stall: CaseIterable {
        case resolving, connecting, sending, beforeHead, inHead, afterInterim, beforeBody, inBody, inChunk, beforeEnd

        var phase: LoadFailure.Phase {
            switch self {
            case .resolving: .resolving
            case .connecting: .connecting
            case .sending: .sending
            case .beforeHead, .inHead, .afterInterim: .waitingForHead
            case .beforeBody, .inBody, .inChunk, .beforeEnd: .receivingBody
            }
        }

        var reply: String {
            switch self {
            case .resolving, .connecting, .sending, .beforeHead: ""
            case .inHead: "HTTP/1.1 200 OK\r\nConte"
            case .afterInterim: "HTTP/1.1 100 Continue\r\n\r\n"
            case .beforeBody: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
            case .inBody: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"
            case .inChunk: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"
            case .beforeEnd: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"
            }
        }
    }

    @Test(arguments: Stall.allCases)
    func `T-RES-11 T-RES-14 a stall ends in its phase after the idle time, and the connection with it`(stall: Stall) {
        let world = VirtualWorld()
        world.host("api.test", ["192.0.2.1"], after: stall == .resolving ? .seconds(1000) : .zero)
        if stall == .connecting { world.set(.neverAnswers, for: "192.0.2.1") }
        let isUpload = stall == .sending
        world.script(
            "api.test",
            isUpload ? .stopReading : .expectRequest,
            isUpload ? .stall : .reply(stall.reply),
            .stall
        )
        let events = world.send(
            isUpload ? "POST" : "GET",
            "http://api.test/",
            body: isUpload ? Data(count: 1 << 20) : nil,
            idleTimeout: .seconds(10)
        )

        world.advance(by: .milliseconds(9_999))
        #expect(!events.isComplete)
        world.advance(by: .milliseconds(2))

        #expect(events.all.last == .failed(.timedOut))
        #expect(events.phase == stall.phase)
        #expect(world.network.openConnections.isEmpty)
        world.advance(by: .seconds(2000))
        #expect(events.record.completions == 1)
        #expect(world.finish() == [])
    }

    @Test func `T-RES-12 a head that comes one byte at a time has to be there within the idle time`() {
        let world = VirtualWorld()
        let head = "HTTP/1.1 200 OK\r\nX: " + String(repeating: "a", count: 100)
        world.script("api.test", .expectRequest, .dribble(head, 1, every: .seconds(9)))
        let events = world.get("http://api.test/", idleTimeout: .seconds(10))

        world.advance(by: .seconds(11))

        #expect(events.all == [.failed(.timedOut)])
        #expect(events.phase == .waitingForHead)
        #expect(world.finish() == [])
    }

    @Test func `T-RES-12 a body that trickles is cut off by the resource timeout`() {
        let world = VirtualWorld()
        world.configure { $0.timeoutIntervalForResource = 100 }
        world.script(
            "api.test",
            .expectRequest,
            .reply("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"),
            .dribble(String(repeating: "a", count: 1000), 1, every: .seconds(9))
        )
        let events = world.get("http://api.test/", idleTimeout: .seconds(10))

        world.advance(by: .seconds(99))
        #expect(!events.isComplete)
        world.advance(by: .seconds(2))

        #expect(events.all == [.response(200), .data(12), .failed(.timedOut)])
        #expect(world.finish() == [])
    }

    @Test func `15.9 every progress starts the idle time anew`() {
        let world = VirtualWorld()
        world.script(
            "api.test",
            .expectRequest,
            .delay(.seconds(9)),
            .reply("HTTP/1.1 103 Early Hints\r\n\r\n"),
            .delay(.seconds(9)),
            .reply("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"),
            .delay(.seconds(9)),
            .dribble("body", 1, every: .seconds(9))
        )
        let events = world.get("http://api.test/", idleTimeout: .seconds(10))

        world.run { events.isComplete }

        #expect(events.all == [.response(200), .data(4), .finished])
        #expect(world.finish() == [])
    }

    @Test func `15.2 both timeouts stand still while the task is suspended`() {
        let world = VirtualWorld()
        world.configure { $0.timeoutIntervalForResource = 30 }
        world.script("api.test", .expectRequest, .delay(.seconds(5)), .reply(VirtualWorld.echo("/")))
        let events = world.get("http://api.test/", idleTimeout: .seconds(10))

        world.advance(by: .seconds(1))
        events.task.suspend()
        world.advance(by: .seconds(1000))
        #expect(!events.isComplete)
        events.task.resume()
        world.run { events.isComplete }

        #expect(events.all == [.response(200), .data(1), .finished])
        #expect(world.finish() == [])
    }

    @Test func `15.9 the idle time stands still while the delegate is asked, the resource time does not`() {
        let world = VirtualWorld()
        world.configure { $0.timeoutIntervalForResource = 500 }
        world.script("api.test", .expectRequest, .reply("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"), .stall)
        world.recorder.onResponse { _, _ in }
        let events = world.get("http://api.test/", idleTimeout: .seconds(10))

        world.advance(by: .seconds(499))
        #expect(events.all == [.response(200)])
        world.advance(by: .seconds(2))

        #expect(events.all == [.response(200), .failed(.timedOut)])
        #expect(world.finish() == [])
    }

    @Test(arguments: [false, true])
    func `15.9 the resource time also ends the wait for an answer about a response in full`(isSuspended: Bool) {
        let world = VirtualWorld()
        world.configure { $0.timeoutIntervalForResource = 500 }
        world.serveEcho("api.test")
        world.recorder.onResponse { _, _ in }
        let events = world.get("http://api.test/")
        world.advance(by: .seconds(100))
        if isSuspended {
            events.task.suspend()
            world.advance(by: .seconds(1000))
            events.task.resume()
        }

        world.advance(by: .seconds(399))
        #expect(events.all == [.response(200)])
        world.advance(by: .seconds(2))

        #expect(events.all == [.response(200), .failed(.timedOut)])
        #expect(events.record.metrics?.transactionMetrics.first?.responseEndDate != nil)
        #expect(world.finish() == [])
    }

    @Test func `T-RES-17 years that pass at once time a task out once and retire idle connections`() {
        let world = VirtualWorld()
        world.serveEcho("api.test")
        world.script("slow.test", .expectRequest, .stall)
        world.load("http://api.test/1")
        let stalled = world.get("http://slow.test/")
        world.settle()

        world.clock.advance(to: world.now + .seconds(10 * 365 * 86_400))
        world.settle()
        let next = world.load("http://api.test/2")

        #expect(stalled.all == [.failed(.timedOut)])
        #expect(next.body == "/2")
        #expect(world.network.connections.count == 3)
        #expect(world.finish() == [])
    }

    @Test(arguments: [10, -10])
    func `T-RES-17 a clock that is set by ten years in flight times nothing out and retires nothing`(years: Int64) {
        let world = VirtualWorld()
        world.hasVirtualDate = true
        world.configure { $0.timeoutIntervalForResource = 30 }
        world.serveEcho("api.test")
        world.script(
            "slow.test",
            .expectRequest,
            .delay(.seconds(5)),
            .reply("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"),
            .delay(.seconds(5)),
            .reply("body")
        )
        world.load("http://api.test/1")
        let slow = world.get("http://slow.test/", idleTimeout: .seconds(8))

        for _ in 1...3 {
            world.advance(by: .seconds(3))
            world.wall.set(by: years * 365 * 86_400)
            #expect(!slow.isComplete)
        }
        world.run { slow.isComplete }
        let next = world.load("http://api.test/2")

        #expect(slow.all == [.response(200), .data(4), .finished])
        #expect(next.body == "/2" && world.network.connections.count == 2)
        #expect(world.finish() == [])
    }

    @Test(arguments: 0..<200)
    func `T-RES-13 a timeout at the very moment of an answer ends the task once`(seed: UInt64) {
        let world = VirtualWorld(seed: seed, holdsBack: 30)
        world.network.link.latency = 0...2_000_000
        world.serveEcho("api.test", after: .milliseconds(998))
        let events = (0..<4).map { world.get("http://api.test/\($0)", idleTimeout: .seconds(1)) }

        world.run { events.allSatisfy(\.isComplete) }
        world.advance(by: .seconds(5))

        for (number, event) in events.enumerated() {
            #expect(event.record.completions == 1)
            #expect(event.all == [.failed(.timedOut)] || event.body == "/\(number)")
        }
        #expect(world.finish() == [])
    }
}
