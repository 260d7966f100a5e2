import Foundation

@testable import AFTransport

@Suite("Requests sent ahead of answers")
struct PipeliningTests {
    private let server = Server()

    /// A server that answers in order, after a while, and notes how many wait on a connection.
    private final class Server {
        var most = 0
        var methods: [String] = []
        private var waiting: [Int: [VirtualRequest]] = [:]

        func serve(
            _ world: TransferWorld,
            after delay: Duration = .milliseconds(10),
            _ answer: @escaping (VirtualRequest, ServerEnd) -> Void = { $1.send(VirtualSystem.echo($0.target)) }
        ) {
            world.respond("api.test") { [self] request, moment, client in
                guard moment == .complete else { return }
                let connection = client.connection.number
                waiting[connection, default: []].append(request)
                most = max(most, waiting[connection]?.count ?? 0)
                methods.append(request.method)
                // What is due at the same time comes in any order.
                client.after(delay) { [self] client in
                    if let first = waiting[connection]?.removeFirst() { answer(first, client) }
                }
            }
        }
    }

    private func makeWorld(seed: UInt64 = 1, connections: Int = 1) -> TransferWorld {
        let world = TransferWorld(seed: seed)
        world.settings.pool.maximumConnectionsPerHost = connections
        world.settings.pipelines = true
        return world
    }

    private func start(_ count: Int, in world: TransferWorld) -> [TransferEvents] {
        (0..<count).map { world.get("http://api.test/\($0)") }
    }

    @Test func `T-PIP-01 each answer goes to the request it belongs to`() {
        let world = makeWorld()
        server.serve(world)
        world.load("http://api.test/first")

        let events = start(12, in: world)
        world.run(events)

        #expect(events.map(\.body) == (0..<12).map { "/\($0)" })
        #expect(server.most == 12)
        #expect(world.network.connections.count == 1)
        #expect(world.finish() == [])
    }

    @Test(arguments: [false, true])
    func `T-PIP-01 a request may say by itself whether it is sent ahead, whatever its session says`(asks: Bool) {
        let world = makeWorld()
        world.settings.pipelines = !asks
        server.serve(world)
        world.load("http://api.test/first")

        let events = (0..<3).map { world.get("http://api.test/\($0)", pipelining: asks) }
        world.run(events)

        #expect(server.most == (asks ? 3 : 1) && events.allSatisfy { $0.error == nil })
        #expect(world.finish() == [])
    }

    @Test func `T-PIP-01 bytes behind the last answer belong to no request and end the connection`() {
        let world = makeWorld()
        Server().serve(world) { request, client in
            client.send(VirtualSystem.echo(request.target))
            if request.target == "/2" { client.send(VirtualSystem.echo("/evil")) }
        }
        world.load("http://api.test/first")

        let events = start(3, in: world)
        world.run(events)
        let next = world.load("http://api.test/next")

        #expect(events.map(\.body) == ["/0", "/1", "/2"])
        #expect(next.body == "/next")
        #expect(world.network.connections.count == 2)
        #expect(world.finish() == [])
    }

    @Test func `T-PIP-01 an answer that comes before its request has left is delivered to no task`() {
        let world = makeWorld()
        // Room for the first request and a part of the second, until the server reads.
        world.network.link.sendCapacity = 150
        world.respond("api.test") { request, moment, client in
            guard client.connection.number == 0, request.target == "/0" else {
                return client.send(VirtualSystem.echo(request.target))
            }
            client.stopReading()
            client.send(VirtualSystem.echo(request.target) + VirtualSystem.echo("/evil"))
        }
        world.load("http://api.test/first")

        let long = "/1" + String(repeating: "x", count: 400)
        let events = ["/0", long, "/2"].map { world.get("http://api.test\($0)") }
        world.run(events)

        #expect(events.map(\.body) == ["/0", long, "/2"])
        #expect(world.network.connections.count == 2)
        #expect(world.finish() == [])
    }

    @Test func `T-PIP-02 nothing is sent ahead before the peer has shown that it keeps the connection`() {
        let world = makeWorld()
        server.serve(world)

        let events = start(2, in: world)
        world.run { events[0].isComplete }

        #expect(server.most == 1)
        world.run(events)
        #expect(world.finish() == [])
    }

    @Test(arguments: ["POST", "PATCH"])
    func `T-PIP-02 a request that must not be sent twice is neither sent ahead nor followed`(method: String) {
        let world = makeWorld()
        server.serve(world)
        world.load("http://api.test/first")

        let before = start(1, in: world)
        let unsafe = world.send(method, "http://api.test/unsafe", body: Data("x".utf8))
        let after = start(1, in: world)
        world.run(before + [unsafe] + after)

        #expect(server.most == 1)
        #expect(server.methods == ["GET", "GET", method, "GET"])
        #expect(world.finish() == [])
    }

    @Test func `T-PIP-02 other connections are used first`() {
        let world = makeWorld(connections: 4)
        server.serve(world)
        world.load("http://api.test/first")

        let events = start(4, in: world)
        world.run(events)

        #expect(world.network.connections.count == 4)
        #expect(events.map(\.body) == (0..<4).map { "/\($0)" })
        #expect(world.finish() == [])
    }

    @Test(arguments: 0...8)
    func `T-PIP-03 an unanswered request is sent again, alone, on a fresh connection`(answered: Int) {
        let world = makeWorld()
        var answers = 0
        server.serve(world) { request, client in
            guard client.connection.number == 0, request.target != "/first" else {
                return client.send(VirtualSystem.echo(request.target))
            }
            answers += 1
            if answers <= answered { client.send(VirtualSystem.echo(request.target)) } else { client.reset() }
        }
        world.load("http://api.test/first")

        let events = start(8, in: world)
        world.run(events)

        #expect(events.map(\.body) == (0..<8).map { "/\($0)" })
        #expect(world.network.connections.count == (answered == 8 ? 1 : 2))
        #expect(server.methods.count == 9 + 8 - answered)
        #expect(world.finish() == [])
    }

    @Test func `T-PIP-04 a peer that fails at it is asked one thing at a time from then on`() {
        let world = makeWorld()
        server.serve(world) { request, client in
            guard client.connection.number == 0, request.target == "/1" else {
                return client.send(VirtualSystem.echo(request.target))
            }
            client.send("HTTP/1.1 what is this\r\n\r\n")
        }
        world.load("http://api.test/first")
        let events = start(4, in: world)
        world.run(events)
        server.most = 0
        let later = start(4, in: world)
        world.run(later)

        #expect(events[1].all == [.failed("malformed")])
        #expect([0, 2, 3].map { events[$0].body } == ["/0", "/2", "/3"])
        #expect(later.map(\.body) == (0..<4).map { "/\($0)" })
        #expect(server.most == 1)
        #expect(world.finish() == [])
    }

    @Test(arguments: 0..<6)
    func `T-PIP-05 cancelling one leaves the others their answers`(cancelled: Int) {
        let world = makeWorld()
        Server().serve(world)
        world.load("http://api.test/first")

        let events = start(6, in: world)
        world.advance(by: .milliseconds(5))
        events[cancelled].cancel()
        world.run(events)

        #expect(events[cancelled].completions == 0)
        for (number, event) in events.enumerated() where number != cancelled { #expect(event.body == "/\(number)") }
        #expect(world.finish() == [])
    }

    @Test func `T-PIP-06 a request that waits too long behind a slow one is answered on another connection`() {
        let world = makeWorld()
        Server().serve(world, after: .seconds(4))
        world.load("http://api.test/first")

        let first = world.get("http://api.test/0", idleTimeout: .seconds(60))
        let second = world.get("http://api.test/1", idleTimeout: .seconds(10))
        world.advance(by: .seconds(1))
        first.suspend()
        world.advance(by: .seconds(15))
        #expect(!second.isComplete)

        first.resume()
        world.run([first, second])
        #expect(first.body == "/0")
        #expect(second.body == "/1")
        #expect(world.network.connections.count == 2)
        #expect(world.finish() == [])
    }

    @Test func `T-PIP-06 the idle time of a request begins with its turn`() {
        let world = makeWorld()
        Server().serve(world, after: .seconds(8)) { request, client in
            client.send(VirtualSystem.echo(request.target))
        }
        world.load("http://api.test/first")

        let events = (0..<3).map { number in
            defer { world.advance(by: .seconds(4)) }
            return world.get("http://api.test/\(number)", idleTimeout: .seconds(10))
        }
        world.run(events)

        #expect(events.map(\.body) == ["/0", "/1", "/2"])
        #expect(world.network.connections.count == 1)
        #expect(world.finish() == [])
    }

    @Test func `T-PIP-06 nothing is sent behind a request that is held up`() {
        let world = makeWorld()
        server.serve(world)
        world.load("http://api.test/first")

        let first = world.get("http://api.test/0")
        world.settle()
        first.suspend()
        let second = world.get("http://api.test/1")
        world.advance(by: .seconds(1))
        #expect(server.methods.count == 2)

        first.resume()
        world.run([first, second])
        #expect(second.body == "/1")
        #expect(world.finish() == [])
    }

    @Test func `T-PIP-06 a task that is suspended takes no answer, though it comes with the one before`() {
        let world = makeWorld()
        var answers = ""
        Server().serve(world) { request, client in
            let echo = VirtualSystem.echo(request.target)
            guard client.connection.number == 0, request.target != "/first" else { return client.send(echo) }
            answers += echo
            if request.target == "/2" { client.send(answers) }
        }
        world.load("http://api.test/first")

        let events = start(3, in: world)
        world.settle()
        events[1].suspend()
        world.advance(by: .seconds(1))
        #expect(events[0].body == "/0" && events[2].body == "/2")
        #expect(!events[1].isComplete && events[1].bytes.isEmpty)

        events[1].resume()
        world.run(events)
        #expect(events[1].body == "/1")
        #expect(world.finish() == [])
    }

    @Test func `T-TLS-20 a request is not sent ahead in the clear once its host is pinned`() {
        let world = makeWorld()
        server.serve(world, after: .seconds(1))
        world.load("http://api.test/first")
        let events = start(20, in: world)
        world.settle()
        let sent = server.methods.count

        world.pinned = ["api.test"]
        world.run(events)

        #expect(sent == 17 && server.methods.count == sent)
        #expect(events.map(\.body) == (0..<16).map { "/\($0)" } + [String](repeating: "", count: 4))
        #expect(events.suffix(4).allSatisfy { $0.all == [.failed("clear text")] })
        #expect(world.finish() == [])
    }

    @Test(arguments: [false, true])
    func `T-TLS-20 a request that waits for room on its connection asks when there is some`(isPinned: Bool) {
        let world = makeWorld()
        world.network.link.sendCapacity = 400
        world.network.link.latency = 100_000_000...100_000_000
        Server().serve(world, after: .seconds(1))
        world.load("http://api.test/first")
        let slow = start(1, in: world)
        world.advance(by: .milliseconds(300))
        // More than the connection takes for now. What is sent behind it waits on it.
        let long = world.get("http://api.test/long/" + String(repeating: "x", count: 500))
        world.settle()
        let last = world.get("http://api.test/secret")
        world.settle()

        if isPinned { world.pinned = ["api.test"] }
        world.run(slow + [long, last])

        let text = world.network.connections.map { String(decoding: $0.received, as: UTF8.self) }.joined()
        #expect(text.contains("GET /secret") != isPinned && text.contains("GET /long/"))
        #expect((last.all == [.failed("clear text")]) == isPinned)
        #expect(slow.map(\.body) == ["/0"] && long.body.hasPrefix("/long/"))
        #expect(world.finish() == [])
    }

    @Test func `T-PIP-03 after a reset what waits behind others goes to another connection`() {
        let world = makeWorld()
        Server().serve(world)
        world.load("http://api.test/first")

        let events = start(4, in: world)
        world.advance(by: .milliseconds(5))
        world.pool.retireAll()
        world.run(events)

        #expect(events.map(\.body) == (0..<4).map { "/\($0)" })
        #expect(world.network.connections.count == 2)
        #expect(world.finish() == [])
    }

    @Test func `T-PIP-03 being sent ahead takes nothing from a request's right to be sent again`() {
        let world = makeWorld(connections: 2)
        var dead = false
        Server().serve(world) { request, client in
            if dead, client.connection.number < 2 { return client.reset() }
            client.send(VirtualSystem.echo(request.target))
        }
        let warm = start(2, in: world)
        world.run(warm)
        dead = true

        let events = start(6, in: world)
        world.run(events)

        #expect(events.map(\.body) == (0..<6).map { "/\($0)" })
        #expect(world.finish() == [])
    }

    @Test func `T-PIP-06 a peer that stops in the middle fails the one it owes, and no other`() {
        let world = makeWorld()
        Server().serve(world) { request, client in
            guard client.connection.number == 0, request.target == "/1" else {
                return client.send(VirtualSystem.echo(request.target))
            }
            client.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this")
        }
        world.load("http://api.test/first")
        let events = (0..<4).map { world.get("http://api.test/\($0)", idleTimeout: .seconds(10)) }
        world.run(events)

        #expect(events[1].failure == "late, receivingBody")
        #expect([0, 2, 3].map { events[$0].body } == ["/0", "/2", "/3"])
        #expect(world.finish() == [])
    }

    @Test func `T-PIP-07 a peer that announces the end is asked again on another connection`() {
        let world = makeWorld()
        server.serve(world) { request, client in
            let closes = client.connection.number == 0 && request.target == "/2"
            client.send(VirtualSystem.echo(request.target, fields: closes ? "Connection: close\r\n" : ""))
            if closes { client.close() }
        }
        world.load("http://api.test/first")

        let events = start(6, in: world)
        world.run(events)

        #expect(events.map(\.body) == (0..<6).map { "/\($0)" })
        #expect(world.network.connections.count == 2)
        #expect(world.finish() == [])
    }

    @Test(arguments: 0..<20)
    func `T-PIP-01, 03, 05 in many interleavings no task gets another's answer`(batch: UInt64) {
        for seed in batch * 25..<(batch + 1) * 25 {
            var random = SeededGenerator(seed: seed)
            let world = makeWorld(seed: seed, connections: random.pick(1...2))
            Server().serve(world, after: .milliseconds(random.pick(0...20))) { request, client in
                if client.draw(0...9) == 0, request.turn > 0 { return client.reset() }
                client.send(VirtualSystem.echo(request.target))
            }
            world.load("http://api.test/first")

            let events = start(random.pick(2...20), in: world)
            for event in events where random.chance(20) {
                world.advance(by: .milliseconds(random.pick(0...5)))
                event.cancel()
            }
            world.run(events)

            for (number, event) in events.enumerated() {
                #expect(event.completions == 0 || event.error != nil || event.body == "/\(number)", "seed \(seed)")
                #expect(event.isComplete, "seed \(seed)")
            }
            #expect(world.finish() == [], "seed \(seed)")
        }
    }
}
