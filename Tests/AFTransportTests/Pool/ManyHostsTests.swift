import AFFaults
import AFLoop
import Foundation

@testable import AFTransport

@Suite("What a request costs does not grow with the hosts")
struct ManyHostsTests {
    private func makeWorld(_ count: Int, _ configure: (inout TransferWorld.Settings) -> Void) -> TransferWorld {
        let world = TransferWorld()
        configure(&world.settings)
        for number in 0..<count {
            world.host("h\(number).test", "10.0.\(number >> 8).\(number & 255)")
            world.serveEcho("h\(number).test")
        }
        return world
    }

    /// Those whose connections gave way to others leave nothing behind.
    @Test func `that it has talked to`() throws {
        let world = makeWorld(100) {
            $0.pool.maximumConnectionsPerHost = 1
            $0.pool.maximumIdleConnections = 3
            // What closes idle connections would also forget hosts that were left behind.
            $0.pool.idleConnectionTimeout = 1_000_000
        }
        for number in 0..<100 { #expect(world.load("http://h\(number).test/").body == "/") }
        #expect(world.pool.hosts.all.count == 3)
        #expect(world.network.openConnections.count == 3)
        #expect(world.finish() == [])
    }

    /// One timer closes their connections, each at a time of its own.
    @Test func `that have idle connections`() {
        let growth = CPUTime.growth(from: 100, to: 3_200) { count in
            let world = makeWorld(count) {
                $0.pool.maximumIdleConnections = count
                $0.pool.idleConnectionTimeout = 1_000_000
            }
            for number in 0..<count {
                world.load("http://h\(number).test/")
                world.advance(by: .milliseconds(1))
            }
            #expect(world.network.openConnections.count == count)
            world.advance(by: .seconds(2_000_000))
            #expect(world.network.openConnections.isEmpty)
            #expect(world.finish() == [])
        }
        #expect(growth < 4)
    }

    @Test func `that wait for others to close connections`() {
        let growth = CPUTime.growth(from: 100, to: 3_200) { count in
            let world = makeWorld(count) { $0.pool.maximumConnections = 4 }
            let events = (0..<count).map { world.get("http://h\($0).test/") }
            world.run(events)
            #expect(events.allSatisfy { $0.body == "/" })
            #expect(world.finish() == [])
        }
        #expect(growth < 4)
    }
}
