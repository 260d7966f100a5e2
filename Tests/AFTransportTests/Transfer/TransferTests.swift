import AFVirtualWorld
import Testing

@testable import AFTransport

/// How a transfer obeys its machine.
@Suite struct TransferTests {
    private let network = EchoNetwork()

    @Test func `a body that is ready after the end of its transfer puts nothing into the queue`() throws {
        let pool = network.pool { _ in }
        let transfer = try network.transfer(of: "/", in: pool, for: TransferListener())
        transfer.prepare()
        transfer.cancel()
        transfer.start(priority: 0.5, body: nil)
        network.world.advance(by: .seconds(1))

        #expect(network.world.network.connections.isEmpty)
        network.finish(pool)
    }

    @Test func `what cannot happen ends the transfer, with an error that names it`() throws {
        var connections: [EchoConnection] = []
        let pool = network.pool { connections.append($0) }
        let listener = TransferListener()
        let transfer = try network.transfer(of: "/", in: pool, for: listener)
        transfer.start(priority: 0.5, body: nil)
        network.world.advance(by: .seconds(1))
        transfer.lostItsTurn()

        guard case .fault(let words)? = listener.error else { return #expect(Bool(false), "\(listener)") }
        #expect(words == "lostTurn while exchanging: it follows no other request")
        #expect(connections.first?.load == 0, "its connection has room again")
        network.finish(pool)
        connections.removeAll()
    }

    @Test func `a suspended request leaves the queue, and joins it again when it is resumed`() throws {
        var connections: [EchoConnection] = []
        let pool = network.pool { connections.append($0) }
        let listener = TransferListener()
        let transfer = try network.transfer(of: "/later", in: pool, for: listener)
        transfer.pause(.suspended)
        transfer.start(priority: 0.5, body: nil)
        network.world.advance(by: .seconds(30))
        #expect(network.world.network.connections.isEmpty && transfer.deadline == .distantFuture)

        transfer.unpause(.suspended)
        network.world.advance(by: .seconds(1))
        try #require(connections.first).answer()
        #expect(listener.text == "/later" && listener.isFinished)
        network.finish(pool)
        connections.removeAll()
    }
}
