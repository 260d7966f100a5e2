import AFBase
import AFFaults
import AFVirtualWorld
import Foundation
import Testing

@testable import AFURLSession

@Suite("What a request costs does not grow with the hosts")
struct ManyHostsTests {
    private func makeWorld(_ count: Int, _ configure: (URLSessionConfiguration) -> Void) -> VirtualWorld {
        let world = VirtualWorld()
        world.configure(configure)
        for number in 0..<count {
            world.host("h\(number).test", "10.0.\(number >> 8).\(number & 255)")
            world.serveEcho("h\(number).test")
        }
        return world
    }

    /// How many hosts the pool of the world's session keeps.
    private func keptHosts(in world: VirtualWorld) throws -> Int {
        let kept = Lock<Int?>(nil)
        world.loop.enqueue { [core = world.session.core] in
            let hosts = Mirror(reflecting: core.value.pool).children.first { $0.label == "hosts" }
            kept.withLock { $0 = hosts.map { Mirror(reflecting: $0.value).children.count } ?? -1 }
        }
        world.run { kept.withLock { $0 } != nil }
        return try #require(kept.withLock { $0 })
    }

    /// Those whose connections gave way to others leave nothing behind.
    @Test func `that the session has talked to`() throws {
        let world = makeWorld(100) {
            $0.httpMaximumConnectionsPerHost = 1
            $0.maximumIdleConnections = 3
            // What closes idle connections would also forget hosts that were left behind.
            $0.idleConnectionTimeout = 1_000_000
        }
        for number in 0..<100 { #expect(world.load("http://h\(number).test/").body == "/") }
        let kept = try keptHosts(in: world)
        #expect(kept == 3)
        #expect(world.network.openConnections.count == 3)
        #expect(world.finish() == [])
    }

    /// One timer closes their connections, each at a time of its own.
    @Test func `that have idle connections`() {
        let growth = CPUTime.growth(from: 100, to: 3_200) { count in
            let world = makeWorld(count) {
                $0.maximumIdleConnections = count
                $0.idleConnectionTimeout = 1_000_000
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
            let world = makeWorld(count) { $0.maximumConnections = 4 }
            let loaded = Lock(0)
            for number in 0..<count {
                guard let url = URL(string: "http://h\(number).test/") else { continue }
                world.session.dataTask(with: url) { data, _, _ in
                    if data != nil { loaded.withLock { $0 += 1 } }
                }.resume()
            }
            world.run { loaded.withLock { $0 } == count }
            #expect(loaded.withLock { $0 } == count)
            #expect(world.finish() == [])
        }
        #expect(growth < 4)
    }
}
