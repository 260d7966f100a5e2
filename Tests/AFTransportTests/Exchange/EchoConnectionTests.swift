import Testing

@testable import AFTransport

/// The pool and the transfer know only `HTTPConnection`: another protocol needs nothing but another implementation.
@Suite("Another protocol in the place of HTTP/1.1")
struct EchoConnectionTests {
    private let network = EchoNetwork()

    @Test func `the pool gives one connection as many requests as it takes at once`() throws {
        var connections: [EchoConnection] = []
        let pool = network.pool { connections.append($0) }
        let listeners = (1...4).map { _ in TransferListener() }
        for (number, listener) in listeners.enumerated() {
            try network.start("/target-\(number)", in: pool, for: listener)
        }
        network.world.advance(by: .seconds(1))

        let connection = try #require(connections.first)
        #expect(connection.load == 3)
        try connection.answer()
        #expect(listeners.map(\.text) == ["", "", "/target-2", ""])
        network.world.advance(by: .seconds(1))
        #expect(connection.load == 3, "the fourth has the place of the third")
        while connection.load > 0 { try connection.answer() }

        #expect(listeners.map(\.text) == ["/target-0", "/target-1", "/target-2", "/target-3"])
        #expect(listeners.allSatisfy { $0.isFinished && $0.status == 200 && $0.error == nil })
        #expect(connections.count == 1)
        network.finish(pool)
        // They hold their pool, which holds the closure that noted them.
        connections.removeAll()
    }

    @Test func `a connection with room for more gets them before the pool dials another`() throws {
        var connections: [EchoConnection] = []
        let pool = network.pool(perHost: 6) { connections.append($0) }
        let listeners = (1...5).map { _ in TransferListener() }
        try network.start("/0", in: pool, for: listeners[0])
        network.world.advance(by: .seconds(1))
        for number in 1...4 { try network.start("/\(number)", in: pool, for: listeners[number]) }
        network.world.advance(by: .seconds(1))

        // It takes three. The other two need another one.
        #expect(connections.first?.load == 3 && connections.map(\.load).reduce(0, +) == 5)
        #expect(network.world.network.connections.count <= 3)
        for connection in connections { while connection.load > 0 { try connection.answer() } }
        #expect(listeners.map(\.text) == (0...4).map { "/\($0)" })
        network.finish(pool)
        connections.removeAll()
    }
}
