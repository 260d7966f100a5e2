@Suite("Waiting for one's turn")
final class WaitingTests: WorldSuite {
    @Test func `T-RES-15 a task that never got a connection says that it waited for one`() {
        world.configure { $0.httpMaximumConnectionsPerHost = 1 }
        world.serveEcho("api.test", after: .seconds(30))
        let first = world.get("http://api.test/1", idleTimeout: .seconds(60))
        world.run(limit: .seconds(1)) { world.network.connections.count == 1 }

        let second = world.get("http://api.test/2", idleTimeout: .seconds(10))
        world.run()

        #expect(second.all == [.failed(.timedOut)])
        #expect(second.phase == .queued)
        #expect(first.all == [.response(200), .data(2), .finished])
    }

    @Test func `T-RES-15 the answer comes in time although the wait for a connection took longer`() {
        world.configure { $0.httpMaximumConnectionsPerHost = 1 }
        world.serveEcho("api.test", after: .seconds(8))
        let first = world.get("http://api.test/1", idleTimeout: .seconds(10))
        world.run(limit: .seconds(1)) { world.network.connections.count == 1 }

        let second = world.get("http://api.test/2", idleTimeout: .seconds(10))
        world.run()

        #expect(first.body == "/1" && second.body == "/2")
    }

    @Test func `T-RES-33 a connection that died while the machine slept is not used again`() {
        var posts = 0
        world.respond("api.test") { request, moment, client in
            guard moment == .complete else { return }
            if request.method == "POST" { posts += 1 }
            client.send(VirtualWorld.echo(request.target))
            client.after(.seconds(20)) { $0.close() }
        }
        world.load("http://api.test/1")

        // Time goes by and no turn is made.
        world.clock.advance(to: world.now + .seconds(40))
        let events = world.send("POST", "http://api.test/2", body: Data(count: 10))
        world.run { events.isComplete }

        #expect(events.body == "/2")
        #expect(posts == 1)
        #expect(world.network.connections.count == 2)
    }

    @Test func `T-RES-48 a delegate that is slow with metrics holds up its own queue only`() {
        world.serveEcho("api.test")
        let (recorder, queue) = (world.recorder, world.queue)
        recorder.onEvent { _, _, event in if event == .metrics { queue.sleep(for: .seconds(600)) } }
        let slow = world.get("http://api.test/1")
        world.run { slow.record.metrics != nil }
        let other = EventRecorder()
        let session = world.makeSession(delegate: other).session
        let start = world.now

        let neighbour = session.dataTask(with: URL(string: "http://api.test/2") ?? URL(fileURLWithPath: "/"))
        neighbour.resume()
        let next = world.get("http://api.test/3")
        world.run { neighbour.state == .completed }

        #expect(start.duration(to: world.now) < .seconds(1))
        #expect(neighbour.error == nil && !next.isComplete)
        world.run { next.isComplete }
        #expect(next.body == "/3" && slow.body == "/1")
    }
}
