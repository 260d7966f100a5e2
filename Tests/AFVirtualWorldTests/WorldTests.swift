import AFBase
import AFLoop
import AFURLSession
import AFVirtualWorld
import Foundation
import Testing

@Suite("The virtual world itself")
final class WorldTests: WorldSuite {
    private static let plain = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    @Test func `time jumps to what comes next and stops where it is told`() {
        let clock = VirtualClock()
        var happened: [Int] = []
        for second in [3, 1, 2] { clock.after(.seconds(second)) { happened.append(second) } }

        clock.advance(to: clock.now + .seconds(2))
        clock.runDue()

        #expect(happened == [1, 2])
        #expect(clock.next == LoopInstant(nanoseconds: 4_000_000_000))
    }

    @Test func `advancing by a day takes no time and exactly a day`() {
        let world = VirtualWorld()
        let start = world.now

        world.advance(by: .seconds(86_400))

        #expect(start.duration(to: world.now) == .seconds(86_400))
        #expect(world.turns < 10)
    }

    @Test func `another seed is another order`() {
        var orders: Set<[String]> = []
        for seed in 0..<20 as Range<UInt64> {
            let world = VirtualWorld(seed: seed)
            var served: [String] = []
            world.respond("api.test") { request, _, client in
                served.append(request.target)
                client.send(WorldTests.plain)
            }
            let events = (0..<4).map { world.get("http://api.test/\($0)") }
            world.run { events.allSatisfy(\.isComplete) }
            orders.insert(served)
            #expect(world.finish() == [])
        }

        #expect(orders.count > 5)
    }

    @Test func `a script notices what it did not expect`() {
        let world = VirtualWorld()
        world.script("api.test", .expect("POST "), .reply(WorldTests.plain))
        let events = world.get("http://api.test/", idleTimeout: .seconds(1))

        world.run { events.isComplete }

        #expect(events.all == [.failed(.timedOut)])
        #expect(world.finish().count == 1)
    }

    @Test func `a queue that is stopped or asleep runs nothing`() {
        world.script("api.test", .expectRequest, .reply(WorldTests.plain))
        let queue = world.queue
        queue.stop()
        let events = world.get("http://api.test/")

        world.advance(by: .seconds(1))
        #expect(events.all.isEmpty)
        queue.goOn()
        queue.sleep(for: .seconds(5))
        world.advance(by: .seconds(4))
        #expect(events.all.isEmpty)
        world.run { events.isComplete }

        #expect(events.all == [.response(200), .data(2), .finished])
    }

    @Test func `callbacks never run inside a turn of the loop`() {
        world.script("api.test", .expectRequest, .reply(WorldTests.plain))
        let loop = world.loop
        let inside = Lock(0)
        world.recorder.onEvent { _, _, _ in if loop.isOnLoop { inside.withLock { $0 += 1 } } }

        let events = world.get("http://api.test/")
        world.run { events.isComplete }

        #expect(events.all.last == .finished)
        #expect(inside.withLock { $0 } == 0)
    }

    @Test func `what is left open is reported`() {
        world.host("api.test", "192.0.2.1")
        world.script("api.test", .stall)
        let events = world.get("http://api.test/")
        world.advance(by: .seconds(1))

        #expect(world.network.ledger.open == 1)
        #expect(world.network.openConnections.count == 1)
        events.task.cancel()
        world.settle()

        #expect(world.network.ledger.open == 0)
        #expect(world.network.ledger.opened == world.network.ledger.closed)
    }

    @Test func `a session without a reference to it is gone after the end`() {
        let world = VirtualWorld()
        world.script("api.test", .expectRequest, .reply(WorldTests.plain))
        do {
            let events = world.get("http://api.test/")
            world.run { events.isComplete }
        }

        #expect(world.finish(expectsRelease: true) == [])
    }
}
