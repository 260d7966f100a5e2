@testable import AFTransport

/// The pool and the transfer know only `HTTPConnection`: another protocol needs nothing but another implementation.
@Suite("Another protocol in the place of HTTP/1.1")
final class EchoConnectionTests: TransferSuite {
    private var connections: [EchoConnection] = []

    @Test func `the pool gives one connection as many requests as it takes at once`() throws {
        world.speakEcho { [unowned self] in connections.append($0) }
        let events = (0..<4).map { world.get("http://api.test/target-\($0)") }
        world.advance(by: .seconds(1))

        let connection = try #require(connections.first)
        #expect(connection.load == 3)
        try connection.answer()
        #expect(events.map(\.body) == ["", "", "/target-2", ""])
        world.advance(by: .seconds(1))
        #expect(connection.load == 3, "the fourth has the place of the third")
        while connection.load > 0 { try connection.answer() }

        #expect(events.map(\.body) == ["/target-0", "/target-1", "/target-2", "/target-3"])
        #expect(events.allSatisfy { $0.all == [.response(200), .data(9), .finished] })
        #expect(connections.count == 1)
    }

    @Test func `a connection with room for more gets them before the pool dials another`() throws {
        world.speakEcho(perHost: 6) { [unowned self] in connections.append($0) }
        var events = [world.get("http://api.test/0")]
        world.advance(by: .seconds(1))
        events += (1...4).map { world.get("http://api.test/\($0)") }
        world.advance(by: .seconds(1))

        // It takes three. The other two need another one.
        #expect(connections.first?.load == 3 && connections.map(\.load).reduce(0, +) == 5)
        #expect(world.network.connections.count <= 3)
        for connection in connections { while connection.load > 0 { try connection.answer() } }
        #expect(events.map(\.body) == (0...4).map { "/\($0)" })
    }
}
