import AFLoop
import AFURLSession
import AFVirtualWorld
import Foundation
import Testing

@Suite("Choosing among addresses")
struct DialTests {
    private static let addresses = ["2001:db8::1", "192.0.2.1", "2001:db8::2", "192.0.2.2"]

    static let orders: [[Int]] = permutations([0, 1, 2, 3])

    private static func permutations(_ items: [Int]) -> [[Int]] {
        guard items.count > 1 else { return [items] }
        return items.flatMap { first in permutations(items.filter { $0 != first }).map { [first] + $0 } }
    }

    /// All four attempts are under way when the first of them ends.
    @Test(arguments: orders)
    func `T-RES-37 whichever attempt connects first wins and the others send nothing`(order: [Int]) {
        for accepting in 0..<16 {
            let world = VirtualWorld()
            world.host("api.test", DialTests.addresses)
            world.serveEcho("api.test")
            for (rank, attempt) in order.enumerated() {
                let delay = Duration.milliseconds(1000 + 100 * rank - 250 * attempt)
                let accepts = accepting & (1 << attempt) != 0
                world.set(accepts ? .acceptsAfter(delay) : .refuses(after: delay), for: DialTests.addresses[attempt])
            }

            let events = world.load("http://api.test/")

            let winner = order.first { accepting & (1 << $0) != 0 }
            #expect(events.body == (winner == nil ? "" : "/"))
            let spokenTo = world.network.connections.filter { $0.receivedCount > 0 }.map(\.address.host)
            #expect(spokenTo == (winner.map { [DialTests.addresses[$0]] } ?? []))
            #expect(world.network.openConnections.count == (winner == nil ? 0 : 1))
            if winner == nil { #expect(events.error?.loadFailure?.attempts.count == 4) }
            #expect(world.finish() == [])
        }
    }

    @Test func `T-RES-32 the second address is tried after a quarter of a second`() {
        let world = VirtualWorld()
        world.host("api.test", "2001:db8::1", "192.0.2.1")
        world.set(.neverAnswers, for: "2001:db8::1")
        world.serveEcho("api.test")
        let start = world.now

        let events = world.load("http://api.test/")

        #expect(events.body == "/")
        #expect(start.duration(to: world.now) == .milliseconds(250))
        #expect(world.network.connections.map(\.isOver) == [true, false])
        #expect(world.finish() == [])
    }

    @Test func `T-RES-32 addresses that never answer end in a timeout while connecting`() {
        let world = VirtualWorld()
        world.host("api.test", "192.0.2.1", "192.0.2.2")
        for address in ["192.0.2.1", "192.0.2.2"] { world.set(.neverAnswers, for: address) }

        let events = world.get("http://api.test/", idleTimeout: .seconds(5))
        world.run { events.isComplete }

        #expect(events.all == [.failed(.timedOut)])
        #expect(events.phase == .connecting)
        #expect(world.finish() == [])
    }

    @Test func `a refused address makes way for the next at once`() {
        let world = VirtualWorld()
        world.host("api.test", "2001:db8::1", "192.0.2.1")
        world.set(.refuses(), for: "2001:db8::1")
        world.serveEcho("api.test")
        let start = world.now

        let events = world.load("http://api.test/")

        #expect(events.body == "/")
        #expect(start == world.now)
        #expect(world.finish() == [])
    }

    @Test func `T-RES-36 of a thousand addresses sixteen are tried, and each once`() {
        let world = VirtualWorld()
        world.host("api.test", (0..<1000).map { "192.0.\(2 + $0 % 500 / 250).\($0 % 250)" })

        let events = world.load("http://api.test/")

        #expect(events.all == [.failed(.cannotConnectToHost)])
        #expect(world.network.connections.count == 16)
        #expect(Set(world.network.connections.map(\.address)).count == 16)
        #expect(world.finish() == [])
    }

    @Test func `T-RES-36 a name without addresses fails before anything is opened`() {
        let world = VirtualWorld()
        world.host("api.test", [])

        let events = world.load("http://api.test/")

        #expect(events.all == [.failed(.cannotConnectToHost)])
        #expect(world.network.connections.isEmpty)
        #expect(world.finish() == [])
    }

    @Test(arguments: [
        (ResolutionFailure.Kind.notFound, URLError.Code.cannotFindHost),
        (.unavailable, .dnsLookupFailed), (.overloaded, .dnsLookupFailed),
    ])
    func `T-RES-36 a lookup that fails is told from one that found nothing`(
        kind: ResolutionFailure.Kind,
        code: URLError.Code
    ) {
        let world = VirtualWorld()
        world.resolver.set(
            .init(.failure(ResolutionFailure(kind, message: "so it is")), after: .seconds(1)),
            for: "api.test"
        )

        #expect(world.load("http://api.test/").all == [.failed(code)])
        #expect(world.finish() == [])
    }

    @Test func `T-RES-35 an answer that comes after cancel, timeout or the session's end opens nothing`() {
        for ending in 0..<3 {
            let world = VirtualWorld()
            world.host("api.test", ["192.0.2.1"], after: .seconds(20))
            world.serveEcho("api.test")
            let events = world.get("http://api.test/", idleTimeout: .seconds(ending == 1 ? 5 : 60))
            world.advance(by: .seconds(1))

            if ending == 0 { events.task.cancel() }
            if ending == 2 { world.session.invalidateAndCancel() }
            world.advance(by: .seconds(100))

            #expect(events.all == [.failed(ending == 1 ? .timedOut : .cancelled)])
            #expect(world.network.connections.isEmpty)
            #expect(world.finish() == [])
        }
    }

    @Test(arguments: [11, 12, 13, 23, 24, 97, 99, 101, 105])
    func `T-RES-23 a socket that cannot be made leaves the other addresses their turn`(code: Int32) {
        let world = VirtualWorld()
        world.host("api.test", "2001:db8::1", "192.0.2.1")
        world.serveEcho("api.test")
        world.network.failsNextSockets = [code]

        #expect(world.load("http://api.test/").body == "/")
        #expect(world.finish() == [])
    }
}
