import AFLoop
import Foundation

@testable import AFTransport

@Suite("Shares of a session")
final class ShareTests: TransferSuite {
    // MARK: - Connections in all

    @Test(arguments: 1...4)
    func `T-RES-45 there are never more connections than may be, and every host gets its turn`(maximum: Int) {
        world.settings.pool.maximumConnections = maximum
        let hosts = ["a.test", "b.test", "c.test", "d.test", "e.test"]
        for host in hosts { world.serveEcho(host, after: .seconds(1)) }

        let tasks = hosts.flatMap { host in
            (0..<8).map { (host: host, events: world.get("http://\(host)/\($0)", idleTimeout: .seconds(500))) }
        }
        var most = 0
        var firsts: Set<String> = []
        world.run {
            most = max(most, world.network.openConnections.count)
            for task in tasks where task.events.isComplete { firsts.insert(task.host) }
            return tasks.allSatisfy(\.events.isComplete)
        }

        #expect(tasks.allSatisfy { $0.events.all.last == .finished })
        #expect(most == maximum)
        #expect(firsts.count == hosts.count)
    }

    @Test func `T-RES-45 a host with very much to do does not keep another from its first connection`() {
        world.settings.pool.maximumConnections = 2
        for host in ["busy.test", "other.test"] { world.serveEcho(host, after: .seconds(1)) }
        let busy = (0..<100).map { world.get("http://busy.test/\($0)", idleTimeout: .seconds(500)) }
        world.advance(by: .milliseconds(500))
        let start = world.now

        let other = world.get("http://other.test/")
        world.run(other)

        #expect(other.body == "/")
        #expect(start.duration(to: world.now) < .seconds(2))
        world.run(busy)
        #expect(busy.allSatisfy { $0.all.last == .finished })
    }

    @Test func `T-RES-44 an idle connection makes way for another host`() {
        world.settings.pool.maximumConnections = 1
        for host in ["a.test", "b.test"] { world.serveEcho(host) }

        for host in ["a.test", "b.test", "a.test"] { #expect(world.load("http://\(host)/").body == "/") }

        #expect(world.network.connections.count == 3)
        #expect(world.network.openConnections.count == 1)
    }

    @Test func `T-RES-44 a connection that goes idle makes way for a request that waits`() {
        world.settings.pool.maximumConnections = 2
        world.script("a.test", .expectRequest, .stall)
        for host in ["b.test", "c.test"] { world.serveEcho(host, after: .seconds(1)) }
        let endless = world.get("http://a.test/", idleTimeout: .seconds(1000))
        let other = world.get("http://b.test/")
        world.settle()
        let waiting = world.get("http://a.test/2", idleTimeout: .seconds(1000))
        world.run(other)
        world.advance(by: .seconds(1))

        #expect(other.body == "/" && world.network.openConnections.count == 2)
        #expect(world.network.connections.count == 3)
        for events in [endless, waiting] { events.cancel() }
    }

    @Test func `T-RES-44 a request that leaves while none may dial leaves room for the others`() {
        world.settings.pool.maximumConnections = 1
        for host in ["a.test", "b.test", "c.test"] { world.serveEcho(host, after: .seconds(1)) }
        let first = world.get("http://a.test/")
        world.settle()
        let second = world.get("http://b.test/")
        let third = world.get("http://c.test/")
        world.settle()

        second.cancel()
        world.run(third)

        #expect(first.body == "/" && third.body == "/")
        #expect(second.all.isEmpty)
    }

    // MARK: - Bytes in a second

    private static func body(_ count: Int) -> [ServerStep] {
        [.expectRequest, .reply("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n"), .fill(count), .again]
    }

    @Test func `a body comes no faster than the session may receive, and no slower`() {
        world.settings.pool.receiveRate = 100_000
        world.scripts("api.test", [ShareTests.body(1_000_000)])
        let start = world.now
        let turns = world.turns

        let events = world.get("http://api.test/")
        world.run(events)

        #expect(events.all == [.response(200), .data(1_000_000), .finished])
        let took = start.duration(to: world.now)
        #expect(took > .milliseconds(9_700) && took < .milliseconds(10_300), "\(took)")
        #expect(world.turns - turns < 2_000)
    }

    @Test func `tasks share the rate, each with the same part of it`() {
        world.settings.pool.receiveRate = 100_000
        let hosts = (0..<4).map { "host\($0).test" }
        for host in hosts { world.scripts(host, [ShareTests.body(250_000)]) }
        let start = world.now

        let events = hosts.map { world.get("http://\($0)/") }
        world.run { events.contains(where: \.isComplete) }
        let first = start.duration(to: world.now)
        world.run(events)
        let last = start.duration(to: world.now)

        #expect(events.allSatisfy { $0.all.last == .finished })
        #expect(first > .milliseconds(9_000), "\(first)")
        #expect(last > .milliseconds(9_700) && last < .milliseconds(10_300), "\(last)")
    }

    @Test func `a load that waits for its share is not idle`() {
        world.settings.pool.receiveRate = 10
        let hosts = (0..<4).map { "host\($0).test" }
        for host in hosts { world.scripts(host, [ShareTests.body(100)]) }

        let events = hosts.map { world.get("http://\($0)/", idleTimeout: .milliseconds(100)) }
        world.run(events)

        #expect(events.allSatisfy { $0.all == [.response(200), .data(100), .finished] })
    }

    @Test func `a request that waits for its share while its connection dies is sent again, and answered`() {
        world.settings.pool.receiveRate = 1000
        // There is more to send when the connection dies, which tells before its share comes.
        world.settings.pool.sendRate = 10_000_000
        world.scripts("other.test", [ShareTests.body(10_000)])
        var puts = 0
        world.respond("api.test") { request, moment, client in
            if request.method == "PUT", moment == .head {
                puts += 1
                guard puts == 1 else { return }
                client.halfClose()
                return client.after(.milliseconds(1)) { $0.reset() }
            }
            client.send(VirtualSystem.echo(request.method))
        }
        #expect(world.load("http://api.test/").body == "GET")
        let download = world.get("http://other.test/")
        world.advance(by: .seconds(1))

        let upload = world.send("PUT", "http://api.test/", body: Data(count: 4 << 20))
        world.run(upload, download)

        #expect(upload.body == "PUT" && puts == 2)
        #expect(download.all == [.response(200), .data(10_000), .finished])
    }

    @Test func `an upload goes no faster than the session may send, and arrives whole`() {
        world.settings.pool.sendRate = 100_000
        var received = 0
        world.respond("api.test") { request, moment, client in
            guard moment == .complete else { return }
            received = request.body.count
            client.send(VirtualSystem.echo("done"))
        }
        let start = world.now

        let events = world.send("POST", "http://api.test/", body: Data(count: 500_000), idleTimeout: .seconds(1))
        world.run(events)

        #expect(events.body == "done" && received == 500_000)
        let took = start.duration(to: world.now)
        #expect(took > .milliseconds(4_700) && took < .milliseconds(5_300), "\(took)")
    }

    /// How long an upload of 200,000 bytes at 50,000 a second takes beside another of the same length.
    private func uploads(at sessionRate: Int? = nil) -> (own: Double, free: Double) {
        world.settings.pool.sendRate = sessionRate
        for host in ["own.test", "free.test"] { world.serveEcho(host) }
        let start = world.now

        let body = Data(count: 200_000)
        let own = world.send("POST", "http://own.test/", body: body, idleTimeout: .milliseconds(500), rate: 50_000)
        let free = world.send("POST", "http://free.test/", body: body)
        var took = (own: 0.0, free: 0.0)
        world.run {
            let now = start.duration(to: world.now) / .seconds(1)
            if own.isComplete, took.own == 0 { took.own = now }
            if free.isComplete, took.free == 0 { took.free = now }
            return own.isComplete && free.isComplete
        }
        #expect([own, free].allSatisfy { $0.all.last == .finished })
        return took
    }

    @Test func `a request may be sent no faster than it says, and holds up no other`() {
        let took = uploads()

        #expect(took.own > 3.7 && took.own < 4.3, "\(took)")
        #expect(took.free < 0.5, "\(took)")
    }

    @Test func `a request of its own rate takes no more of the session's than that`() {
        let took = uploads(at: 150_000)

        // It waits for its own share and then for the session's, and the other takes what it leaves.
        #expect(took.own > 3.7 && took.own < 5, "\(took)")
        #expect(took.free > 1.2 && took.free < 2.4, "\(took)")
    }

    @Test func `a rate of its own beyond the session's changes nothing`() {
        let took = uploads(at: 40_000)

        #expect(took.own > 9.5 && took.own < 10.5, "\(took)")
    }

    @Test(arguments: 0..<20)
    func `tasks with rates of their own give their shares back`(seed: UInt64) {
        let world = TransferWorld(seed: seed, holdsBack: 20)
        world.settings.pool.sendRate = 60_000
        for number in 0..<4 { world.serveEcho("host\(number).test") }
        let events = (0..<4).map { number in
            world.send("POST", "http://host\(number).test/", body: Data(count: 30_000), rate: 20_000)
        }
        world.advance(by: .milliseconds(300 + 40 * Int(seed)))

        events[0].cancel()
        events[1].suspend()
        world.run { events[2...].allSatisfy(\.isComplete) }
        events[1].resume()
        world.run(events)

        #expect(events[0].error == nil)
        for event in events.dropFirst() { #expect(event.all.last == .finished) }
        #expect(world.finish() == [])
    }

    @Test(arguments: 0..<20)
    func `cancelled and suspended tasks give their shares back`(seed: UInt64) {
        let world = TransferWorld(seed: seed, holdsBack: 20)
        world.settings.pool.receiveRate = 50_000
        world.settings.pool.sendRate = 50_000
        for number in 0..<6 { world.scripts("host\(number).test", [ShareTests.body(60_000)]) }
        let events = (0..<6).map { number in
            world.send("POST", "http://host\(number).test/", body: Data(count: 20_000))
        }
        world.advance(by: .milliseconds(700 + 60 * Int(seed)))

        events[0].cancel()
        events[1].suspend()
        world.run { events[2...].allSatisfy(\.isComplete) }
        events[1].resume()
        world.run(events)

        #expect(events[0].error == nil)
        for event in events.dropFirst() { #expect(event.all == [.response(200), .data(60_000), .finished]) }
        #expect(world.finish() == [])
    }
}
