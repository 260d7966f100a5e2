import AFLoop

@testable import AFTransport

@Suite("What the poller says")
final class ReadinessTests: TransferSuite {
    @Test(arguments: 0..<8)
    func `T-RES-26 edges of every kind with nothing behind them neither spin nor harm`(mask: UInt32) {
        world.script(
            "api.test",
            .expectRequest,
            .delay(.seconds(1)),
            .reply("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"),
            .delay(.seconds(1)),
            .reply("body"),
            .again
        )
        let events = world.get("http://api.test/")

        for _ in 0..<25 {
            world.advance(by: .milliseconds(100))
            world.network.connections[0].signalSpuriously(Readiness(rawValue: mask))
        }
        world.advance(by: .seconds(1))

        #expect(events.all == [.response(200), .data(4), .finished])
        #expect(world.turns < 400)
    }

    @Test func `T-RES-25 an event for a descriptor closed in the same batch does not reach its next owner`() throws {
        let clock = VirtualClock()
        let ready = ReadyList(random: SeededGenerator(seed: 1), holdsBack: 0)
        let loop = EventLoop(poller: VirtualPoller(clock: ThreadBound(clock), readiness: ThreadBound(ready)))
        let owners = [SlotOwner(loop, 5), SlotOwner(loop, 6)]
        for owner in owners { try owner.register() }
        let next = SlotOwner(loop, 0)
        defer { for owner in owners + [next] { owner.leave() } }
        for (index, owner) in owners.enumerated() {
            owner.onReady = {
                let other = owners[1 - index]
                other.deregister()
                next.descriptor = other.descriptor
                try? next.register()
            }
            ready.signal(owner.descriptor, .readable)
        }

        loop.runTurn()
        ready.horizon = clock.now
        loop.runTurn()

        #expect(owners.map(\.events).reduce(0, +) == 1)
        #expect(next.events == 0)
        ready.signal(next.descriptor, .readable)
        loop.runTurn()
        #expect(next.events == 1)
    }
}

private final class SlotOwner: ChannelTarget {
    private let loop: EventLoop
    var descriptor: Int32
    private var token: PollToken = 0
    private(set) var events = 0
    var onReady: () -> Void = {}

    init(_ loop: EventLoop, _ descriptor: Int32) {
        self.loop = loop
        self.descriptor = descriptor
    }

    func register() throws { token = try loop.register(descriptor, for: self) }
    func deregister() { loop.deregister(token, descriptor: descriptor) }

    /// The loop holds those it knows, who hold it.
    func leave() {
        onReady = {}
        deregister()
    }

    func channelReady(_ readiness: Readiness) {
        events += 1
        onReady()
    }
}
