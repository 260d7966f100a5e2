import AFLoop

@testable import AFTransport

/// How a transfer obeys its machine.
@Suite final class TransferTests: TransferSuite {
    private var connections: [EchoConnection] = []

    override init() {
        super.init()
        world.speakEcho { [unowned self] in connections.append($0) }
    }

    @Test func `a body that is ready after the end of its transfer puts nothing into the queue`() {
        let events = world.make("GET", "http://api.test/")
        events.transfer.prepare()
        events.cancel()
        events.start()
        world.advance(by: .seconds(1))

        #expect(world.network.connections.isEmpty)
    }

    @Test func `what cannot happen ends the transfer, with an error that names it`() {
        let events = world.get("http://api.test/")
        world.advance(by: .seconds(1))
        events.transfer.lostItsTurn()

        #expect(events.failure == "lostTurn while exchanging: it follows no other request")
        #expect(connections.first?.load == 0, "its connection has room again")
    }

    @Test func `a suspended request leaves the queue, and joins it again when it is resumed`() throws {
        let events = world.make("GET", "http://api.test/later")
        events.suspend()
        events.start()
        world.advance(by: .seconds(30))
        #expect(world.network.connections.isEmpty && events.transfer.deadline == .distantFuture)

        events.resume()
        world.advance(by: .seconds(1))
        try #require(connections.first).answer()
        #expect(events.body == "/later" && events.all.last == .finished)
    }
}
