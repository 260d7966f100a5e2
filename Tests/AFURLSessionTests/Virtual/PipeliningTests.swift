import AFLoop
import AFTestSupport
import AFURLSession
import AFVirtualWorld
import Foundation
import Testing

@Suite("Requests sent ahead of answers")
struct PipeliningTests {
    /// A server that answers in order, after a while, and notes how many wait on a connection.
    private final class Server {
        var most = 0
        var methods: [String] = []
        private var waiting: [Int: [VirtualRequest]] = [:]

        func serve(
            _ world: VirtualWorld,
            after delay: Duration = .milliseconds(10),
            _ answer: @escaping (VirtualRequest, ServerEnd) -> Void = { $1.send(VirtualWorld.echo($0.target)) }
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

    private func makeWorld(seed: UInt64 = 1, connections: Int = 1) -> VirtualWorld {
        let world = VirtualWorld(seed: seed)
        world.configure {
            $0.httpMaximumConnectionsPerHost = connections
            $0.httpShouldUsePipelining = true
        }
        return world
    }

    private func start(_ count: Int, in world: VirtualWorld) -> [TaskEvents] {
        (0..<count).map { world.get("http://api.test/\($0)") }
    }

    private func run(_ events: [TaskEvents], in world: VirtualWorld) {
        world.run { events.allSatisfy(\.isComplete) }
    }

    @Test func `T-PIP-01 each answer goes to the request it belongs to`() {
        let world = makeWorld()
        let server = Server()
        server.serve(world)
        world.load("http://api.test/first")

        let events = start(12, in: world)
        run(events, in: world)

        #expect(events.map(\.body) == (0..<12).map { "/\($0)" })
        #expect(server.most == 12)
        #expect(world.network.connections.count == 1)
        #expect(world.finish() == [])
    }

    @Test func `T-PIP-01 a request may ask for it by itself`() throws {
        let world = VirtualWorld()
        world.configure { $0.httpMaximumConnectionsPerHost = 1 }
        let server = Server()
        server.serve(world)
        world.load("http://api.test/first")
        var request = URLRequest(url: try #require(URL(string: "http://api.test/asks")))
        request.httpShouldUsePipelining = true

        let tasks = (0..<3).map { _ in world.session.dataTask(with: request) }
        for task in tasks { task.resume() }
        world.run { tasks.allSatisfy { $0.state == .completed } }

        #expect(server.most == 3)
        #expect(tasks.allSatisfy { $0.error == nil })
        #expect(world.finish() == [])
    }

    @Test func `a request that says no is not sent ahead, whatever its session says`() throws {
        let world = makeWorld()
        let server = Server()
        server.serve(world)
        world.load("http://api.test/first")
        var request = URLRequest(url: try #require(URL(string: "http://api.test/refuses")))
        request.httpShouldUsePipelining = false

        let tasks = (0..<3).map { _ in world.session.dataTask(with: request) }
        for task in tasks { task.resume() }
        world.run { tasks.allSatisfy { $0.state == .completed } }

        #expect(server.most == 1)
        #expect(tasks.allSatisfy { $0.error == nil })
        #expect(world.finish() == [])
    }

    @Test func `T-PIP-01 bytes behind the last answer belong to no request and end the connection`() {
        let world = makeWorld()
        Server().serve(world) { request, client in
            client.send(VirtualWorld.echo(request.target))
            if request.target == "/2" { client.send(VirtualWorld.echo("/evil")) }
        }
        world.load("http://api.test/first")

        let events = start(3, in: world)
        run(events, in: world)
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
                return client.send(VirtualWorld.echo(request.target))
            }
            client.stopReading()
            client.send(VirtualWorld.echo(request.target) + VirtualWorld.echo("/evil"))
        }
        world.load("http://api.test/first")

        let long = "/1" + String(repeating: "x", count: 400)
        let events = ["/0", long, "/2"].map { world.get("http://api.test\($0)") }
        run(events, in: world)

        #expect(events.map(\.body) == ["/0", long, "/2"])
        #expect(world.network.connections.count == 2)
        #expect(world.finish() == [])
    }

    @Test func `T-PIP-02 nothing is sent ahead before the peer has shown that it keeps the connection`() {
        let world = makeWorld()
        let server = Server()
        server.serve(world)

        let events = start(2, in: world)
        world.run { events[0].isComplete }

        #expect(server.most == 1)
        run(events, in: world)
        #expect(world.finish() == [])
    }

    @Test(arguments: ["POST", "PATCH"])
    func `T-PIP-02 a request that must not be sent twice is neither sent ahead nor followed`(method: String) {
        let world = makeWorld()
        let server = Server()
        server.serve(world)
        world.load("http://api.test/first")

        let before = start(1, in: world)
        let unsafe = world.send(method, "http://api.test/unsafe", body: Data("x".utf8))
        let after = start(1, in: world)
        run(before + [unsafe] + after, in: world)

        #expect(server.most == 1)
        #expect(server.methods == ["GET", "GET", method, "GET"])
        #expect(world.finish() == [])
    }

    @Test func `T-PIP-02 other connections are used first`() {
        let world = makeWorld(connections: 4)
        let server = Server()
        server.serve(world)
        world.load("http://api.test/first")

        let events = start(4, in: world)
        run(events, in: world)

        #expect(world.network.connections.count == 4)
        #expect(events.map(\.body) == (0..<4).map { "/\($0)" })
        #expect(world.finish() == [])
    }

    @Test(arguments: 0...8)
    func `T-PIP-03 an unanswered request is sent again, alone, on a fresh connection`(answered: Int) {
        let world = makeWorld()
        let server = Server()
        var answers = 0
        server.serve(world) { request, client in
            guard client.connection.number == 0, request.target != "/first" else {
                return client.send(VirtualWorld.echo(request.target))
            }
            answers += 1
            if answers <= answered { client.send(VirtualWorld.echo(request.target)) } else { client.reset() }
        }
        world.load("http://api.test/first")

        let events = start(8, in: world)
        run(events, in: world)

        #expect(events.map(\.body) == (0..<8).map { "/\($0)" })
        #expect(world.network.connections.count == (answered == 8 ? 1 : 2))
        #expect(server.methods.count == 9 + 8 - answered)
        #expect(world.finish() == [])
    }

    @Test func `T-PIP-04 a peer that fails at it is asked one thing at a time from then on`() {
        let world = makeWorld()
        let server = Server()
        server.serve(world) { request, client in
            guard client.connection.number == 0, request.target == "/1" else {
                return client.send(VirtualWorld.echo(request.target))
            }
            client.send("HTTP/1.1 what is this\r\n\r\n")
        }
        world.load("http://api.test/first")
        let events = start(4, in: world)
        run(events, in: world)
        server.most = 0
        let later = start(4, in: world)
        run(later, in: world)

        #expect(events[1].all == [.failed(.cannotParseResponse)])
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
        events[cancelled].task.cancel()
        run(events, in: world)

        #expect(events[cancelled].all.last == .failed(.cancelled))
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
        first.task.suspend()
        world.advance(by: .seconds(15))
        #expect(!second.isComplete)

        first.task.resume()
        run([first, second], in: world)
        #expect(first.body == "/0")
        #expect(second.body == "/1")
        #expect(world.network.connections.count == 2)
        #expect(world.finish() == [])
    }

    @Test func `T-PIP-06 the idle time of a request begins with its turn`() {
        let world = makeWorld()
        Server().serve(world, after: .seconds(8)) { request, client in
            client.send(VirtualWorld.echo(request.target))
        }
        world.load("http://api.test/first")

        let events = (0..<3).map { number in
            defer { world.advance(by: .seconds(4)) }
            return world.get("http://api.test/\(number)", idleTimeout: .seconds(10))
        }
        run(events, in: world)

        #expect(events.map(\.body) == ["/0", "/1", "/2"])
        #expect(world.network.connections.count == 1)
        #expect(world.finish() == [])
    }

    @Test func `T-PIP-06 nothing is sent behind a request that is held up`() {
        let world = makeWorld()
        let server = Server()
        server.serve(world)
        world.load("http://api.test/first")

        let first = world.get("http://api.test/0")
        world.settle()
        first.task.suspend()
        let second = world.get("http://api.test/1")
        world.advance(by: .seconds(1))
        #expect(server.methods.count == 2)

        first.task.resume()
        run([first, second], in: world)
        #expect(second.body == "/1")
        #expect(world.finish() == [])
    }

    @Test func `T-PIP-06 a task that is suspended takes no answer, though it comes with the one before`() {
        let world = makeWorld()
        var answers = ""
        Server().serve(world) { request, client in
            let echo = VirtualWorld.echo(request.target)
            guard client.connection.number == 0, request.target != "/first" else { return client.send(echo) }
            answers += echo
            if request.target == "/2" { client.send(answers) }
        }
        world.load("http://api.test/first")

        let events = start(3, in: world)
        world.settle()
        events[1].task.suspend()
        world.advance(by: .seconds(1))
        #expect(events[0].body == "/0" && events[2].body == "/2")
        #expect(!events[1].isComplete && events[1].task.countOfBytesReceived == 0)

        events[1].task.resume()
        run(events, in: world)
        #expect(events[1].body == "/1")
        #expect(world.finish() == [])
    }

    private final class Pinning: ServerEvaluator {
        func evaluate(_ trust: ServerTrust) -> ServerTrustDecision {
            .reject(rule: "test", explanation: "none is right")
        }
        func forbidsPlainText(to host: String) -> Bool { true }
    }

    @Test func `T-TLS-20 a request is not sent ahead in the clear once its host is pinned`() {
        let world = makeWorld()
        let server = Server()
        server.serve(world, after: .seconds(1))
        world.load("http://api.test/first")
        let events = start(20, in: world)
        world.settle()
        let sent = server.methods.count

        world.session.tls.evaluator = Pinning()
        run(events, in: world)

        #expect(sent == 17 && server.methods.count == sent)
        #expect(events.map(\.body) == (0..<16).map { "/\($0)" } + [String](repeating: "", count: 4))
        #expect(events.suffix(4).allSatisfy { $0.error?.code == .unsupportedURL })
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

        if isPinned { world.session.tls.evaluator = Pinning() }
        run(slow + [long, last], in: world)

        let text = world.network.connections.map { String(decoding: $0.received, as: UTF8.self) }.joined()
        #expect(text.contains("GET /secret") != isPinned && text.contains("GET /long/"))
        #expect((last.error?.code == .unsupportedURL) == isPinned)
        #expect(slow.map(\.body) == ["/0"] && long.body.hasPrefix("/long/"))
        #expect(world.finish() == [])
    }

    @Test func `T-PIP-03 after a reset what waits behind others goes to another connection`() {
        let world = makeWorld()
        Server().serve(world)
        world.load("http://api.test/first")

        let events = start(4, in: world)
        world.advance(by: .milliseconds(5))
        world.session.reset {}
        run(events, in: world)

        #expect(events.map(\.body) == (0..<4).map { "/\($0)" })
        #expect(world.network.connections.count == 2)
        #expect(world.finish() == [])
    }

    @Test func `T-PIP-03 being sent ahead takes nothing from a request's right to be sent again`() {
        let world = makeWorld(connections: 2)
        var dead = false
        Server().serve(world) { request, client in
            if dead, client.connection.number < 2 { return client.reset() }
            client.send(VirtualWorld.echo(request.target))
        }
        let warm = start(2, in: world)
        run(warm, in: world)
        dead = true

        let events = start(6, in: world)
        run(events, in: world)

        #expect(events.map(\.body) == (0..<6).map { "/\($0)" })
        #expect(world.finish() == [])
    }

    @Test func `T-PIP-06 a peer that stops in the middle fails the one it owes, and no other`() {
        let world = makeWorld()
        Server().serve(world) { request, client in
            guard client.connection.number == 0, request.target == "/1" else {
                return client.send(VirtualWorld.echo(request.target))
            }
            client.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this")
        }
        world.load("http://api.test/first")
        let events = (0..<4).map { world.get("http://api.test/\($0)", idleTimeout: .seconds(10)) }
        run(events, in: world)

        #expect(events[1].error?.code == .timedOut)
        #expect([0, 2, 3].map { events[$0].body } == ["/0", "/2", "/3"])
        #expect(world.finish() == [])
    }

    @Test func `T-PIP-07 a peer that announces the end is asked again on another connection`() {
        let world = makeWorld()
        let server = Server()
        server.serve(world) { request, client in
            let closes = client.connection.number == 0 && request.target == "/2"
            client.send(VirtualWorld.echo(request.target, fields: closes ? "Connection: close\r\n" : ""))
            if closes { client.close() }
        }
        world.load("http://api.test/first")

        let events = start(6, in: world)
        run(events, in: world)

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
                client.send(VirtualWorld.echo(request.target))
            }
            world.load("http://api.test/first")

            let events = start(random.pick(2...20), in: world)
            for event in events where random.chance(20) {
                world.advance(by: .milliseconds(random.pick(0...5)))
                event.task.cancel()
            }
            run(events, in: world)

            for (number, event) in events.enumerated() {
                #expect(event.error != nil || event.body == "/\(number)", "seed \(seed)")
                #expect(event.isComplete, "seed \(seed)")
            }
            #expect(world.finish() == [], "seed \(seed)")
        }
    }
}
