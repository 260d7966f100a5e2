import AFFaults

@testable import AFTransport

@Suite("Shares of a rate")
struct RateLimitTests {
    private final class Client: RateClient {
        var isAllowed = false

        func rateAllows(_ limit: RateLimit) {
            isAllowed = true
        }
    }

    @Test func `what a client costs does not grow with those that wait`() throws {
        let world = TransferWorld()
        let growth = try CPUTime.growth(from: 500, to: 16_000) { count in
            let limit = try #require(RateLimit(bytesPerSecond: 16, on: world.loop))
            limit.take(1 << 10)
            let clients = (0..<count).map { _ in Client() }
            for client in clients { #expect(limit.request(for: client) == 0) }
            for client in clients.dropFirst().reversed() { limit.leave(client) }
            world.run { clients[0].isAllowed }
            #expect(clients[0].isAllowed && limit.request(for: clients[0]) > 0)
            limit.shutDown()
        }
        #expect(growth < 8)
        #expect(world.finish() == [])
    }
}
