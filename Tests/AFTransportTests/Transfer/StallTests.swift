import AFLoop
import Foundation

@testable import AFTransport

@Suite("Peers that stall")
final class StallTests: TransferSuite {
    enum Stall: CaseIterable {
        case resolving, connecting, sending, beforeHead, inHead, afterInterim, beforeBody, inBody, inChunk, beforeEnd

        var phase: TransferPhase {
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

        #expect(events.all.last == .failed("late, \(stall.phase)"))
        #expect(world.network.openConnections.isEmpty)
        world.advance(by: .seconds(2000))
        #expect(events.completions == 1)
    }

    @Test func `T-RES-12 a head that comes one byte at a time has to be there within the idle time`() {
        let head = "HTTP/1.1 200 OK\r\nX: " + String(repeating: "a", count: 100)
        world.script("api.test", .expectRequest, .dribble(head, 1, every: .seconds(9)))
        let events = world.get("http://api.test/", idleTimeout: .seconds(10))

        world.advance(by: .seconds(11))

        #expect(events.all == [.failed("late, waitingForHead")])
    }

    @Test func `T-RES-12 a body that trickles is cut off by the resource timeout`() {
        world.settings.taskTimeout = .seconds(100)
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

        #expect(events.all == [.response(200), .data(12), .failed("out of time, receivingBody")])
    }

    @Test func `15.9 every progress starts the idle time anew`() {
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

        world.run(events)

        #expect(events.all == [.response(200), .data(4), .finished])
    }

    @Test func `15.2 both timeouts stand still while the task is suspended`() {
        world.settings.taskTimeout = .seconds(30)
        world.script("api.test", .expectRequest, .delay(.seconds(5)), .reply(VirtualSystem.echo("/")))
        let events = world.get("http://api.test/", idleTimeout: .seconds(10))

        world.advance(by: .seconds(1))
        events.suspend()
        world.advance(by: .seconds(1000))
        #expect(!events.isComplete)
        events.resume()
        world.run(events)

        #expect(events.all == [.response(200), .data(1), .finished])
    }

    @Test func `T-RES-17 years that pass at once time a task out once and retire idle connections`() {
        world.serveEcho("api.test")
        world.script("slow.test", .expectRequest, .stall)
        world.load("http://api.test/1")
        let stalled = world.get("http://slow.test/")
        world.settle()

        world.clock.advance(to: world.now + .seconds(10 * 365 * 86_400))
        world.settle()
        let next = world.load("http://api.test/2")

        #expect(stalled.completions == 1 && stalled.error != nil)
        #expect(next.body == "/2")
        #expect(world.network.connections.count == 3)
    }

    @Test(arguments: [10, -10])
    func `T-RES-17 a clock that is set by ten years in flight times nothing out and retires nothing`(years: Int64) {
        world.hasVirtualDate = true
        world.settings.taskTimeout = .seconds(30)
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
        world.run(slow)
        let next = world.load("http://api.test/2")

        #expect(slow.all == [.response(200), .data(4), .finished])
        #expect(next.body == "/2" && world.network.connections.count == 2)
    }

    @Test(arguments: 0..<200)
    func `T-RES-13 a timeout at the very moment of an answer ends the task once`(seed: UInt64) {
        let world = TransferWorld(seed: seed, holdsBack: 30)
        world.network.link.latency = 0...2_000_000
        world.serveEcho("api.test", after: .milliseconds(998))
        let events = (0..<4).map { world.get("http://api.test/\($0)", idleTimeout: .seconds(1)) }

        world.run(events)
        world.advance(by: .seconds(5))

        for (number, event) in events.enumerated() {
            #expect(event.completions == 1)
            #expect(event.failure?.hasPrefix("late, ") == true || event.body == "/\(number)")
        }
        #expect(world.finish() == [])
    }
}
