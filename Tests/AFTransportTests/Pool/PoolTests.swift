import AFLoop

@testable import AFTransport

@Suite("Connections shared by requests")
final class PoolTests: TransferSuite {
    @Test func `15.9 waiting requests are served by priority, then in order`() {
        world.settings.pool.maximumConnectionsPerHost = 1
        var served: [String] = []
        world.respond("api.test") { request, _, client in
            served.append(request.target)
            client.after(.milliseconds(10)) { $0.send(VirtualSystem.echo(request.target)) }
        }
        let first = world.get("http://api.test/first")
        world.advance(by: .milliseconds(1))

        let wanted: [(String, Float)] = [("a", 0.25), ("b", 0.5), ("c", 0.75), ("d", 0.5), ("e", 0.25), ("f", 0.75)]
        let events = wanted.map { world.get("http://api.test/\($0.0)", priority: $0.1) }
        world.advance(by: .milliseconds(1))
        events[4].transfer.changePriority(to: 1)
        world.run(events + [first])

        #expect(served == ["/first", "/e", "/c", "/f", "/b", "/d", "/a"])
        #expect(world.network.connections.count == 1)
    }

    @Test func `the connection used last is used next`() {
        world.respond("api.test") { request, _, client in
            client.after(.milliseconds(request.target == "/slow" ? 20 : 10)) {
                $0.send(VirtualSystem.echo(request.target))
            }
        }
        let both = [world.get("http://api.test/slow"), world.get("http://api.test/fast")]
        world.run(both)
        let before = world.network.connections.map(\.receivedCount)

        world.load("http://api.test/next")

        let after = world.network.connections.map(\.receivedCount)
        #expect(after[0] > before[0])
        #expect(after[1] == before[1])
    }

    @Test func `an idle connection is closed when its time is over`() {
        world.settings.pool.idleConnectionTimeout = 30
        world.serveEcho("api.test")
        world.load("http://api.test/")

        world.advance(by: .milliseconds(29_999))
        #expect(world.network.openConnections.count == 1)
        world.advance(by: .milliseconds(2))

        #expect(world.network.openConnections.isEmpty)
    }

    @Test(arguments: [
        ("5, max=100", 3_900, 1), ("5, max=100", 4_100, 2), ("1", 0, 2), ("0", 0, 2), ("999999999", 59_000, 1),
        ("999999999", 61_000, 2), ("99999999999999999999", 0, 1), ("-1", 0, 1), ("abc", 0, 1), ("1e9", 0, 1),
    ])
    func `T-MSG-49 T-RES-16 a Keep-Alive hint is believed downwards, less one second, if it makes sense`(
        hint: String,
        wait: Int,
        connections: Int
    ) {
        world.serveEcho("api.test", fields: "Keep-Alive: timeout=\(hint)\r\n")
        world.load("http://api.test/1")

        world.advance(by: .milliseconds(wait))
        world.load("http://api.test/2")

        #expect(world.network.connections.count == connections)
    }

    @Test func `T-RES-39 a connection past its age serves no further request`() {
        world.settings.pool.maximumConnectionAge = 100
        world.serveEcho("api.test")

        for number in 0..<6 {
            world.load("http://api.test/\(number)")
            world.advance(by: .seconds(30))
        }

        #expect(world.network.connections.count == 2)
    }

    @Test func `beyond the limit the longest idle connections are closed`() {
        world.settings.pool.maximumConnectionsPerHost = 1
        world.settings.pool.maximumIdleConnections = 3
        for number in 0..<5 {
            world.serveEcho("h\(number).test")
            world.load("http://h\(number).test/")
            world.advance(by: .milliseconds(1))
        }

        #expect(world.network.openConnections.map(\.host) == ["h2.test", "h3.test", "h4.test"])
    }

    @Test func `T-RES-45 a host at its limit starves no other, and cancelled waiters give way`() {
        world.settings.pool.maximumConnectionsPerHost = 1
        world.script("busy.test", .expectRequest, .delay(.seconds(5)), .reply(VirtualSystem.echo("/")), .again)
        world.serveEcho("free.test")
        let running = world.get("http://busy.test/")
        let waiting = (0..<50).map { world.get("http://busy.test/\($0)") }
        let last = world.get("http://busy.test/last")
        world.settle()

        let free = (0..<10).map { world.get("http://free.test/\($0)") }
        world.settle()
        #expect(free.allSatisfy { $0.isComplete })
        for events in waiting { events.cancel() }
        world.run(last)

        #expect(running.all.last == .finished)
        #expect(last.all.last == .finished)
        #expect(waiting.allSatisfy { $0.all.isEmpty })
        #expect(world.network.connections.count(where: { $0.host == "busy.test" }) == 1)
    }

    @Test func `T-MSG-48 a connection is kept exactly where version and fields allow it`() {
        for (version, field, isKept) in [
            ("1.1", "", true), ("1.1", "Connection: close\r\n", false), ("1.1", "Connection: keep-alive\r\n", true),
            ("1.0", "", false), ("1.0", "Connection: close\r\n", false), ("1.0", "Connection: keep-alive\r\n", true),
        ] {
            let world = TransferWorld()
            world.script(
                "api.test",
                .expectRequest,
                .reply("HTTP/\(version) 200 OK\r\n\(field)Content-Length: 2\r\n\r\nok"),
                .again
            )

            world.load("http://api.test/1")

            #expect(world.network.openConnections.count == (isKept ? 1 : 0), "\(version) \(field)")
            #expect(world.finish() == [])
        }
    }
}
