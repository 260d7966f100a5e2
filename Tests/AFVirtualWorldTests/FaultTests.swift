import AFTestSupport
import AFVirtualWorld
import Foundation
import Testing

@Suite("Faults of a virtual world")
struct FaultTests {
    /// Points that one plain request can meet.
    private static let met = FaultPoint.allCases.filter { point in
        let family = point.name.split(separator: ".").first.map(String.init) ?? ""
        return ["dial", "read", "write", "segment", "reset", "end", "link", "name"].contains(family)
            // These need an answer that its server has marked as complete.
            && point != .resetWhenIdle && point != .endWhenIdle
    }

    private func world(_ point: FaultPoint, rate: Int, seed: UInt64) -> VirtualWorld {
        let world = VirtualWorld(seed: seed)
        world.host("api.test", "192.0.2.1", "192.0.2.2")
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n"
        world.network.link.segment = 700...700
        world.network.link.readCap = 1...2000
        world.network.link.writeCap = 700...700
        world.serve("api.test") {
            ScriptedServer([.expectRequest, .reply(head + String(repeating: "x", count: 5000))])
        }
        world.faults.arm(point, rate: rate)
        return world
    }

    @Test(arguments: met)
    func `M-03 each point of the network strikes, and the request ends all the same`(point: FaultPoint) {
        var struck = 0
        for seed in 0..<40 as Range<UInt64> {
            let world = world(point, rate: 300, seed: seed)
            let body = Data(repeating: 0x61, count: 3000)
            let events = world.send("PUT", "http://api.test/", body: body, idleTimeout: .seconds(30))
            world.run { events.isComplete }
            struck += world.faults.count(point)
            #expect(events.record.completions == 1)
            if point.isKind { #expect(events.all == [.response(200), .data(5000), .finished], "seed \(seed)") }
            #expect(world.finish() == [])
        }
        #expect(struck > 0)
    }

    @Test func `nothing strikes unless it is armed`() {
        let world = world(.dialRefused, rate: 0, seed: 1)
        let events = world.get("http://api.test/")
        world.run { events.isComplete }
        #expect(events.all == [.response(200), .data(5000), .finished])
        #expect(FaultPoint.allCases.allSatisfy { !$0.name.hasPrefix("dial.") || world.faults.count($0) == 0 })
        #expect(world.finish() == [])
    }

    @Test func `what one point does changes nothing for another`() {
        func strikes(_ others: [FaultPoint]) -> [Bool] {
            let faults = Faults(random: SeededGenerator(seed: 7))
            faults.arm(.readShort, rate: 500)
            for point in others { faults.arm(point, rate: 500) }
            return (0..<100).map { _ in
                for point in others { _ = faults.strikes(point) }
                return faults.strikes(.readShort)
            }
        }
        let alone = strikes([])
        #expect(alone == strikes([.writeShort, .dialRefused]))
        #expect(alone.contains(true) && alone.contains(false))
    }

    @Test func `the wall clock jumps as it is told, the other one does not`() {
        let world = VirtualWorld()
        world.hasVirtualDate = true
        let (before, now) = (world.wall.now().seconds, world.now)
        world.wall.set(by: -1000)
        #expect(world.wall.now().seconds == before - 1000)
        world.faults.arm(.wallReset, rate: 1000)
        #expect(world.wall.now().seconds < 1000)
        #expect(world.now == now && world.faults.count(.wallReset) == 1)
    }
}
