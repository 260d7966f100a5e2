import AFLoop

@testable import AFTransport

@Suite("Whose answer it is")
final class AttributionTests: TransferSuite {
    private static let forged = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"

    /// Milliseconds at which the forgery is sent, and at which the next request starts.
    @Test(arguments: [0, 1, 10, 50], [0, 1, 5, 11, 49, 51, 60])
    func `T-MSG-42 an answer without a request closes the connection and is never delivered`(
        forgedAt: Int,
        askedAt: Int
    ) {
        for isSameSegment in [true, false] where askedAt > forgedAt || isSameSegment {
            let world = TransferWorld()
            world.respond("api.test") { request, moment, client in
                let answer = VirtualSystem.echo(request.target)
                guard request.target == "/1" else { return client.send(answer) }
                if isSameSegment { return client.send(answer + AttributionTests.forged) }
                client.send(answer)
                client.after(.milliseconds(forgedAt)) { $0.send(AttributionTests.forged) }
            }
            let first = world.load("http://api.test/1")

            world.advance(by: .milliseconds(askedAt))
            let second = world.load("http://api.test/2")

            #expect(first.body == "/1")
            #expect(second.body == "/2")
            #expect(world.network.connections.count == 2)
            #expect(world.network.connections[0].isOver)
            #expect(world.finish() == [])
        }
    }

    @Test func `T-MSG-42 bytes that arrive in the very turn in which a request starts are seen first`() {
        world.respond("api.test") { request, moment, client in
            client.send(VirtualSystem.echo(request.target))
            if request.target == "/1" { client.after(.milliseconds(20)) { $0.send(AttributionTests.forged) } }
        }
        world.load("http://api.test/1")

        world.clock.advance(to: world.network.connections[0].openedAt + .milliseconds(20))
        let second = world.load("http://api.test/2")

        #expect(second.body == "/2")
    }

    @Test func `T-MSG-42 a peer that speaks before it is asked, on a fresh connection, is not believed`() {
        world.script("api.test", .reply(AttributionTests.forged), .expectRequest, .reply(VirtualSystem.echo("/")))

        let events = world.load("http://api.test/")

        #expect(events.all == [.failed("malformed")])
        #expect(world.network.connections.allSatisfy { $0.receivedCount == 0 })
    }

    @Test func `T-MSG-42 an edge with nothing behind it costs at most the connection`() {
        world.serveEcho("api.test")
        world.load("http://api.test/1")

        world.network.connections[0].signalSpuriously([.readable, .writable])
        let second = world.load("http://api.test/2")

        #expect(second.body == "/2")
    }

    @Test(arguments: 0..<20)
    func `T-MSG-52 among many interleavings each task gets the answer to its own request`(batch: UInt64) {
        for seed in batch * 50..<(batch + 1) * 50 {
            var random = SeededGenerator(seed: seed)
            let world = TransferWorld(seed: seed, holdsBack: 30)
            world.network.link = LinkConditions.random(using: &random)
            world.settings.pool.maximumConnectionsPerHost = 2
            world.respond("api.test") { request, moment, client in
                client.after(.microseconds(client.draw(0...3000))) { $0.send(VirtualSystem.echo(request.target)) }
            }
            let events = (0..<6).map { world.get("http://api.test/\(seed)-\($0)") }

            world.run(events)

            for (number, event) in events.enumerated() { #expect(event.body == "/\(seed)-\(number)") }
            #expect(world.finish() == [])
        }
    }
}
