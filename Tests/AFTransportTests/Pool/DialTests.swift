import AFLoop

@testable import AFTransport

@Suite("Choosing among addresses")
final class DialTests: TransferSuite {
    private static let addresses = ["2001:db8::1", "192.0.2.1", "2001:db8::2", "192.0.2.2"]

    private func attempts(of events: TransferEvents) -> Int {
        if case .dial(_, let report)? = events.error { report.attempts.count } else { 0 }
    }

    static let orders: [[Int]] = permutations([0, 1, 2, 3])

    private static func permutations(_ items: [Int]) -> [[Int]] {
        guard items.count > 1 else { return [items] }
        return items.flatMap { first in permutations(items.filter { $0 != first }).map { [first] + $0 } }
    }

    /// All four attempts are under way when the first of them ends.
    @Test(arguments: orders)
    func `T-RES-37 whichever attempt connects first wins and the others send nothing`(order: [Int]) {
        for accepting in 0..<16 {
            let world = TransferWorld()
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
            if winner == nil { #expect(attempts(of: events) == 4) }
            #expect(world.finish() == [])
        }
    }

    @Test func `T-RES-32 the second address is tried after a quarter of a second`() {
        world.host("api.test", "2001:db8::1", "192.0.2.1")
        world.set(.neverAnswers, for: "2001:db8::1")
        world.serveEcho("api.test")
        let start = world.now

        let events = world.load("http://api.test/")

        #expect(events.body == "/")
        #expect(start.duration(to: world.now) == .milliseconds(250))
        #expect(world.network.connections.map(\.isOver) == [true, false])
    }

    @Test func `T-RES-32 addresses that never answer end in a timeout while connecting`() {
        world.host("api.test", "192.0.2.1", "192.0.2.2")
        for address in ["192.0.2.1", "192.0.2.2"] { world.set(.neverAnswers, for: address) }

        let events = world.get("http://api.test/", idleTimeout: .seconds(5))
        world.run(events)

        #expect(events.all == [.failed("late, connecting")])
    }

    @Test func `a refused address makes way for the next at once`() {
        world.host("api.test", "2001:db8::1", "192.0.2.1")
        world.set(.refuses(), for: "2001:db8::1")
        world.serveEcho("api.test")
        let start = world.now

        let events = world.load("http://api.test/")

        #expect(events.body == "/")
        #expect(start == world.now)
    }

    @Test func `T-RES-36 of a thousand addresses sixteen are tried, and each once`() {
        world.host("api.test", (0..<1000).map { "192.0.\(2 + $0 % 500 / 250).\($0 % 250)" })

        let events = world.load("http://api.test/")

        #expect(events.all == [.failed("unreachable")])
        #expect(world.network.connections.count == 16)
        #expect(Set(world.network.connections.map(\.address)).count == 16)
    }

    @Test func `T-RES-36 a name without addresses fails before anything is opened`() {
        world.host("api.test", [])

        let events = world.load("http://api.test/")

        #expect(events.all == [.failed("unreachable")])
        #expect(world.network.connections.isEmpty)
    }

    @Test(arguments: [ResolutionFailure.Kind.notFound, .unavailable, .overloaded])
    func `T-RES-36 a lookup that fails is told from one that found nothing`(kind: ResolutionFailure.Kind) {
        world.resolver.set(
            .init(.failure(ResolutionFailure(kind: kind, message: "so it is")), after: .seconds(1)),
            for: "api.test"
        )

        #expect(world.load("http://api.test/").all == [.failed("\(kind)")])
    }

    @Test func `T-RES-35 an answer that comes after cancel, timeout or the session's end opens nothing`() {
        for ending in 0..<3 {
            let world = TransferWorld()
            world.host("api.test", ["192.0.2.1"], after: .seconds(20))
            world.serveEcho("api.test")
            let events = world.get("http://api.test/", idleTimeout: .seconds(ending == 1 ? 5 : 60))
            world.advance(by: .seconds(1))

            if ending == 0 { events.cancel() }
            if ending == 2 { _ = world.finish() }
            world.advance(by: .seconds(100))

            #expect(events.all == (ending == 1 ? [.failed("late, resolving")] : []))
            #expect(world.network.connections.isEmpty)
            #expect(world.finish() == [])
        }
    }

    @Test(arguments: [11, 12, 13, 23, 24, 97, 99, 101, 105])
    func `T-RES-23 a socket that cannot be made leaves the other addresses their turn`(code: Int32) {
        world.host("api.test", "2001:db8::1", "192.0.2.1")
        world.serveEcho("api.test")
        world.network.failsNextSockets = [code]

        #expect(world.load("http://api.test/").body == "/")
    }
}
