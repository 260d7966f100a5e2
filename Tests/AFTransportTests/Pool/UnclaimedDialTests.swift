@testable import AFTransport

@Suite("Dials that no request waits for")
final class UnclaimedDialTests: TransferSuite {
    @Test func `a dial that no request waits for makes room for one that a request needs`() {
        world.settings.pool.maximumConnections = 2
        world.host("api.test", "192.0.2.1")
        world.host("other.test", "192.0.2.2")
        world.respond("api.test") { request, _, client in
            client.after(.seconds(request.target == "/slow" ? 5 : 0)) { $0.send(VirtualSystem.echo(request.target)) }
        }
        world.serveEcho("other.test")
        world.set(.acceptsAfter(.milliseconds(100)), for: "192.0.2.1")
        let first = world.get("http://api.test/1")
        world.advance(by: .milliseconds(1))
        world.set(.neverAnswers, for: "192.0.2.1")
        let second = world.get("http://api.test/2")
        world.run(first, second)
        let slow = world.get("http://api.test/slow")
        world.advance(by: .milliseconds(100))

        let other = world.get("http://other.test/")
        world.advance(by: .seconds(1))

        #expect(other.body == "/" && !slow.isComplete)
        world.run(slow)
        #expect(slow.body == "/slow")
    }

    @Test func `T-RES-32 a dial that no request waits for is given up after ten seconds`() {
        world.host("api.test", "192.0.2.1")
        world.serveEcho("api.test")
        world.set(.acceptsAfter(.milliseconds(100)), for: "192.0.2.1")
        let first = world.get("http://api.test/1")
        world.advance(by: .milliseconds(1))
        world.set(.neverAnswers, for: "192.0.2.1")
        let second = world.get("http://api.test/2")

        world.run(first, second)
        #expect(second.body == "/2" && world.network.openConnections.count == 2)
        world.advance(by: .milliseconds(9_800))
        #expect(world.network.openConnections.count == 2)
        world.advance(by: .milliseconds(300))

        #expect(world.network.openConnections.count == 1)
    }
}
