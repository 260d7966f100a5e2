import AFLoop
import AFTestFixtures
import AFURLSession
import AFVirtualWorld
import Foundation
import Testing

@Suite("Shares of a session")
struct ShareTests {
    // MARK: - Connections in all

    @Test(arguments: 1...4)
    func `T-RES-45 there are never more connections than may be, and every host gets its turn`(maximum: Int) {
        let world = VirtualWorld()
        world.configure { $0.maximumConnections = maximum }
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
        #expect(world.finish() == [])
    }

    @Test func `T-RES-45 a host with very much to do does not keep another from its first connection`() {
        let world = VirtualWorld()
        world.configure { $0.maximumConnections = 2 }
        for host in ["busy.test", "other.test"] { world.serveEcho(host, after: .seconds(1)) }
        let busy = (0..<100).map { world.get("http://busy.test/\($0)", idleTimeout: .seconds(500)) }
        world.advance(by: .milliseconds(500))
        let start = world.now

        let other = world.get("http://other.test/")
        world.run { other.isComplete }

        #expect(other.body == "/")
        #expect(start.duration(to: world.now) < .seconds(2))
        world.run { busy.allSatisfy(\.isComplete) }
        #expect(busy.allSatisfy { $0.all.last == .finished })
        #expect(world.finish() == [])
    }

    @Test func `T-RES-44 an idle connection makes way for another host`() {
        let world = VirtualWorld()
        world.configure { $0.maximumConnections = 1 }
        for host in ["a.test", "b.test"] { world.serveEcho(host) }

        for host in ["a.test", "b.test", "a.test"] { #expect(world.load("http://\(host)/").body == "/") }

        #expect(world.network.connections.count == 3)
        #expect(world.network.openConnections.count == 1)
        #expect(world.finish() == [])
    }

    @Test func `T-RES-44 a connection that goes idle makes way for a request that waits`() {
        let world = VirtualWorld()
        world.configure { $0.maximumConnections = 2 }
        world.script("a.test", .expectRequest, .stall)
        for host in ["b.test", "c.test"] { world.serveEcho(host, after: .seconds(1)) }
        let endless = world.get("http://a.test/", idleTimeout: .seconds(1000))
        let other = world.get("http://b.test/")
        world.settle()
        let waiting = world.get("http://a.test/2", idleTimeout: .seconds(1000))
        world.run { other.isComplete }
        world.advance(by: .seconds(1))

        #expect(other.body == "/" && world.network.openConnections.count == 2)
        #expect(world.network.connections.count == 3)
        for events in [endless, waiting] { events.task.cancel() }
        #expect(world.finish() == [])
    }

    @Test func `T-RES-44 a request that leaves while none may dial leaves room for the others`() {
        let world = VirtualWorld()
        world.configure { $0.maximumConnections = 1 }
        for host in ["a.test", "b.test", "c.test"] { world.serveEcho(host, after: .seconds(1)) }
        let first = world.get("http://a.test/")
        world.settle()
        let second = world.get("http://b.test/")
        let third = world.get("http://c.test/")
        world.settle()

        second.task.cancel()
        world.run { third.isComplete }

        #expect(first.body == "/" && third.body == "/")
        #expect(second.all == [.failed(.cancelled)])
        #expect(world.finish() == [])
    }

    // MARK: - Bytes in a second

    private static func body(_ count: Int) -> [ScriptStep] {
        [.expectRequest, .reply("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n"), .fill(count), .again]
    }

    @Test func `a body comes no faster than the session may receive, and no slower`() {
        let world = VirtualWorld()
        world.configure { $0.maximumBytesReceivedPerSecond = 100_000 }
        world.scripts("api.test", [ShareTests.body(1_000_000)])
        let start = world.now
        let turns = world.turns

        let events = world.get("http://api.test/")
        world.run { events.isComplete }

        #expect(events.all == [.response(200), .data(1_000_000), .finished])
        let took = start.duration(to: world.now)
        #expect(took > .milliseconds(9_700) && took < .milliseconds(10_300), "\(took)")
        #expect(world.turns - turns < 2_000)
        #expect(world.finish() == [])
    }

    @Test func `tasks share the rate, each with the same part of it`() {
        let world = VirtualWorld()
        world.configure { $0.maximumBytesReceivedPerSecond = 100_000 }
        let hosts = (0..<4).map { "host\($0).test" }
        for host in hosts { world.scripts(host, [ShareTests.body(250_000)]) }
        let start = world.now

        let events = hosts.map { world.get("http://\($0)/") }
        world.run { events.contains(where: \.isComplete) }
        let first = start.duration(to: world.now)
        world.run { events.allSatisfy(\.isComplete) }
        let last = start.duration(to: world.now)

        #expect(events.allSatisfy { $0.all.last == .finished })
        #expect(first > .milliseconds(9_000), "\(first)")
        #expect(last > .milliseconds(9_700) && last < .milliseconds(10_300), "\(last)")
        #expect(world.finish() == [])
    }

    @Test func `a load that waits for its share is not idle`() {
        let world = VirtualWorld()
        world.configure { $0.maximumBytesReceivedPerSecond = 10 }
        let hosts = (0..<4).map { "host\($0).test" }
        for host in hosts { world.scripts(host, [ShareTests.body(100)]) }

        let events = hosts.map { world.get("http://\($0)/", idleTimeout: .milliseconds(100)) }
        world.run { events.allSatisfy(\.isComplete) }

        #expect(events.allSatisfy { $0.all == [.response(200), .data(100), .finished] })
        #expect(world.finish() == [])
    }

    @Test func `a request that waits for its share while its connection dies is sent again, and answered`() {
        let world = VirtualWorld()
        world.configure {
            $0.maximumBytesReceivedPerSecond = 1000
            // There is more to send when the connection dies, which tells before its share comes.
            $0.maximumBytesSentPerSecond = 10_000_000
        }
        world.scripts("other.test", [ShareTests.body(10_000)])
        var puts = 0
        world.respond("api.test") { request, moment, client in
            if request.method == "PUT", moment == .head {
                puts += 1
                guard puts == 1 else { return }
                client.halfClose()
                return client.after(.milliseconds(1)) { $0.reset() }
            }
            client.send(VirtualWorld.echo(request.method))
        }
        #expect(world.load("http://api.test/").body == "GET")
        let download = world.get("http://other.test/")
        world.advance(by: .seconds(1))

        let upload = world.send("PUT", "http://api.test/", body: Data(count: 4 << 20))
        world.run { upload.isComplete && download.isComplete }

        #expect(upload.body == "PUT" && puts == 2)
        #expect(download.all == [.response(200), .data(10_000), .finished])
        #expect(world.finish() == [])
    }

    @Test func `an upload goes no faster than the session may send, and arrives whole`() {
        let world = VirtualWorld()
        world.configure { $0.maximumBytesSentPerSecond = 100_000 }
        var received = 0
        world.respond("api.test") { request, moment, client in
            guard moment == .complete else { return }
            received = request.body.count
            client.send(VirtualWorld.echo("done"))
        }
        let start = world.now

        let events = world.send("POST", "http://api.test/", body: Data(count: 500_000), idleTimeout: .seconds(1))
        world.run { events.isComplete }

        #expect(events.body == "done" && received == 500_000)
        let took = start.duration(to: world.now)
        #expect(took > .milliseconds(4_700) && took < .milliseconds(5_300), "\(took)")
        #expect(world.finish() == [])
    }

    /// How long an upload of 200,000 bytes at 50,000 a second takes beside another of the same length.
    private func uploads(_ configure: @escaping (URLSessionConfiguration) -> Void) throws -> (own: Double, free: Double)
    {
        let world = VirtualWorld()
        world.configure(configure)
        for host in ["own.test", "free.test"] { world.serveEcho(host) }
        var request = URLRequest("POST", try #require(URL(string: "http://own.test/")), body: Data(count: 200_000))
        request.maximumBytesSentPerSecond = 50_000
        request.timeoutInterval = 0.5
        let start = world.now

        let own = TaskEvents(task: world.session.dataTask(with: request), recorder: world.recorder)
        own.task.resume()
        let free = world.send("POST", "http://free.test/", body: Data(count: 200_000))
        var took = (own: 0.0, free: 0.0)
        world.run {
            let now = start.duration(to: world.now) / .seconds(1)
            if own.isComplete, took.own == 0 { took.own = now }
            if free.isComplete, took.free == 0 { took.free = now }
            return own.isComplete && free.isComplete
        }
        #expect([own, free].allSatisfy { $0.all.last == .finished })
        #expect(world.finish() == [])
        return took
    }

    @Test func `a request may be sent no faster than it says, and holds up no other`() throws {
        let took = try uploads { _ in }

        #expect(took.own > 3.7 && took.own < 4.3, "\(took)")
        #expect(took.free < 0.5, "\(took)")
    }

    @Test func `a request of its own rate takes no more of the session's than that`() throws {
        let took = try uploads { $0.maximumBytesSentPerSecond = 150_000 }

        // It waits for its own share and then for the session's, and the other takes what it leaves.
        #expect(took.own > 3.7 && took.own < 5, "\(took)")
        #expect(took.free > 1.2 && took.free < 2.4, "\(took)")
    }

    @Test func `a rate of its own beyond the session's changes nothing`() throws {
        let took = try uploads { $0.maximumBytesSentPerSecond = 40_000 }

        #expect(took.own > 9.5 && took.own < 10.5, "\(took)")
    }

    @Test func `a redirected request keeps to its rate`() throws {
        let world = VirtualWorld()
        world.respond("api.test") { request, moment, client in
            guard moment == .complete else { return }
            let redirect = "HTTP/1.1 307 Elsewhere\r\nLocation: /2\r\nContent-Length: 0\r\n\r\n"
            client.send(request.target == "/1" ? redirect : VirtualWorld.echo("done"))
        }
        var request = URLRequest("POST", try #require(URL(string: "http://api.test/1")), body: Data(count: 100_000))
        request.maximumBytesSentPerSecond = 50_000
        let start = world.now

        let events = TaskEvents(task: world.session.dataTask(with: request), recorder: world.recorder)
        events.task.resume()
        world.run { events.isComplete }

        #expect(events.body == "done")
        let took = start.duration(to: world.now)
        #expect(took > .milliseconds(3_600) && took < .milliseconds(4_300), "\(took)")
        #expect(world.finish() == [])
    }

    @Test(arguments: 0..<20)
    func `tasks with rates of their own give their shares back`(seed: UInt64) throws {
        let world = VirtualWorld(seed: seed, holdsBack: 20)
        world.configure { $0.maximumBytesSentPerSecond = 60_000 }
        for number in 0..<4 { world.serveEcho("host\(number).test") }
        let events = try (0..<4).map { number in
            let url = try #require(URL(string: "http://host\(number).test/"))
            var request = URLRequest("POST", url, body: Data(count: 30_000))
            request.maximumBytesSentPerSecond = 20_000
            return TaskEvents(task: world.session.dataTask(with: request), recorder: world.recorder)
        }
        for event in events { event.task.resume() }
        world.advance(by: .milliseconds(300 + 40 * Int(seed)))

        events[0].task.cancel()
        events[1].task.suspend()
        world.run { events[2...].allSatisfy(\.isComplete) }
        events[1].task.resume()
        world.run { events.allSatisfy(\.isComplete) }

        #expect(events[0].all.last == .failed(.cancelled) || events[0].all.last == .finished)
        for event in events.dropFirst() { #expect(event.all.last == .finished) }
        #expect(world.finish() == [])
    }

    @Test(arguments: 0..<20)
    func `cancelled and suspended tasks give their shares back`(seed: UInt64) {
        let world = VirtualWorld(seed: seed, holdsBack: 20)
        world.configure {
            $0.maximumBytesReceivedPerSecond = 50_000
            $0.maximumBytesSentPerSecond = 50_000
        }
        for number in 0..<6 { world.scripts("host\(number).test", [ShareTests.body(60_000)]) }
        let events = (0..<6).map { number in
            world.send("POST", "http://host\(number).test/", body: Data(count: 20_000))
        }
        world.advance(by: .milliseconds(700 + 60 * Int(seed)))

        events[0].task.cancel()
        events[1].task.suspend()
        world.run { events[2...].allSatisfy(\.isComplete) }
        events[1].task.resume()
        world.run { events.allSatisfy(\.isComplete) }

        #expect(events[0].all.last == .failed(.cancelled) || events[0].all.last == .finished)
        for event in events.dropFirst() { #expect(event.all == [.response(200), .data(60_000), .finished]) }
        #expect(world.finish() == [])
    }

    @Test func `bytes over TLS are held to the rate as well`() async throws {
        let site = try SecuredSite()
        site.server.route("GET", "/long", .text(String(repeating: "x", count: 60_000)))
        let configuration = URLSessionConfiguration.ephemeral
        var tls = TLSConfiguration()
        tls.anchors = .certificates([site.authority.certificate])
        configuration.tls = tls
        configuration.maximumBytesReceivedPerSecond = 200_000
        let session = URLSession(configuration: configuration)
        let clock = ContinuousClock()
        let start = clock.now

        let outcome = try await session.outcome(of: site.server.url("/long"))

        #expect(outcome.text?.count == 60_000)
        // Less what may come at once.
        #expect(start.duration(to: clock.now) > .milliseconds(150))
    }
}
