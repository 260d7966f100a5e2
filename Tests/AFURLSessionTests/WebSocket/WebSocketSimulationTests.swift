@testable import AFURLSession

/// WebSockets whose messages, cuts, pings, suspensions and ends come at random.
///
/// `AFNET_WEBSOCKET_SEEDS` sets how many are run, and `AFNET_WEBSOCKET_SEED` replays a single one.
@Suite("Simulated WebSockets")
struct WebSocketSimulationTests {
    private static let batches = 10
    private static let seeds = number("AFNET_WEBSOCKET_SEEDS") ?? 500

    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    @Test(arguments: 0..<batches)
    func
        `T-WSS-05 T-WSS-16 T-WSS-20 whatever happens, each message comes once and in order, or its sender hears why`(
            batch: Int
        )
    {
        guard Self.number("AFNET_WEBSOCKET_SEED") == nil else { return }
        let each = (Self.seeds + Self.batches - 1) / Self.batches
        var (messages, orderly, broken) = (0, 0, 0)
        for number in (batch * each)..<((batch + 1) * each) {
            let walk = WebSocketWalk(seed: ModelSeed.first &+ UInt64(number))
            for violation in walk.run().prefix(3) {
                Issue.record("AFNET_WEBSOCKET_SEED=\(ModelSeed.first &+ UInt64(number)): \(violation)")
            }
            messages += walk.messageCount
            if walk.isOrderly { orderly += 1 } else { broken += 1 }
        }
        // Otherwise nothing was tried.
        #expect(messages > each && orderly > 0 && broken > 0)
    }

    @Test func `one of them can be replayed`() {
        guard let seed = Self.number("AFNET_WEBSOCKET_SEED") else { return }
        let walk = WebSocketWalk(seed: UInt64(seed))
        let violations = walk.run()
        print(walk.story.joined(separator: "\n"))
        for violation in violations { Issue.record("\(violation)") }
    }
}

/// One WebSocket from its opening to its end.
private final class WebSocketWalk {
    /// What happens at random moments.
    private enum Act: CaseIterable {
        case send, sendLong, ping, receive, suspend, resume, serverSends, serverPings, serverCuts,
            serverCloses, close,
            cancel, wait
    }

    /// What the closures of the program and of the server write down.
    private struct Book {
        var sent: [String] = []
        var unsent = 0
        var finishedSends = 0
        var pongs = 0
        var received: [String] = []
        var failedReceives = 0
        var atServer: [String] = []
        var serverSent: [String] = []
        var partial = ""
        var completions = 0
        var error: (any Error)?
    }

    private final class Listener: NSObject, URLSessionWebSocketDelegate {
        let book: Lock<Book>
        init(_ book: Lock<Book>) { self.book = book }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didCompleteWithError error: (any Error)?
        ) {
            book.withLock { book in
                book.completions += 1
                book.error = error
            }
        }
    }

    private let seed: UInt64
    private var random: SeededGenerator
    private let world: VirtualWorld
    private let book = Lock(Book())
    private var task: URLSessionWebSocketTask?
    private var server: ServerEnd?
    private(set) var story: [String] = []
    private var asked = 0
    private var pinged = 0
    private var isCut = false

    init(seed: UInt64) {
        self.seed = seed
        random = SeededGenerator(seed: seed ^ 0x5EB5)
        world = VirtualWorld(seed: seed, holdsBack: seed.isMultiple(of: 3) ? 20 : 0)
        world.network.link.latency = 0...5_000_000
    }

    var messageCount: Int { book.withLock { $0.received.count + $0.atServer.count } }
    var isOrderly: Bool { book.withLock { $0.completions == 1 && $0.error == nil } }

    func run() -> [String] {
        var behaviour = WebSocketProgram.Behaviour()
        behaviour.opened = { [weak self] in self?.server = $0 }
        behaviour.received = { [book, weak self] frame, client in
            book.withLock { book in
                guard frame.opcode < 3 else { return }
                book.partial += String(decoding: frame.payload, as: UTF8.self)
                guard frame.isFinal else { return }
                book.atServer.append(book.partial)
                book.partial = ""
            }
            if frame.opcode == 9 { client.send(WebSocketProgram.frame(0x8A, frame.payload)) }
            if frame.opcode == 8 { self?.server = nil }
        }
        world.serve("api.test") { WebSocketProgram(behaviour) }
        let session = world.makeSession(delegate: Listener(book)).session
        var options = WebSocketOptions()
        options.receiveBufferSize = random.pick([0, 1000, 64 << 10])
        if random.chance(30) { options.pingInterval = .seconds(random.pick(1...5)) }
        let request = URLRequest(url: URL(string: "ws://api.test/")!)
        let task = session.webSocketTask(with: request, options: options)
        self.task = task
        if random.chance(90) { task.resume() }
        for _ in 0..<random.pick(3...40) {
            let act = random.pick(Act.allCases)
            story.append("\(act)")
            perform(act, on: task)
            world.advance(by: .milliseconds(random.pick([0, 0, 1, 10, 500])))
        }
        finish(task)
        self.task = nil
        return violations()
    }

    private func perform(_ act: Act, on task: URLSessionWebSocketTask) {
        switch act {
        case .send: send("message \(asked)", task)
        case .sendLong:
            send(String(repeating: "\(asked % 10)", count: random.pick(60_000...400_000)), task)
        case .ping:
            pinged += 1
            task.sendPing { [book] _ in book.withLock { $0.pongs += 1 } }
        case .receive: receive(task)
        case .suspend: task.suspend()
        case .resume: task.resume()
        case .serverSends:
            let text =
                "server \(random.pick(0...9999))"
                + String(repeating: "s", count: random.pick([0, 10, 100_000]))
            guard let server else { return }
            book.withLock { $0.serverSent.append(text) }
            let bytes = Array(text.utf8)
            let cut = random.pick(0...bytes.count)
            server.send(WebSocketProgram.frame(0x01, bytes[..<cut]))
            if random.chance(30) { server.send(WebSocketProgram.frame(0x89, [1])) }
            server.send(WebSocketProgram.frame(0x80, bytes[cut...]))
        case .serverPings: server?.send(WebSocketProgram.frame(0x89, Array("ping".utf8)))
        case .serverCuts:
            guard random.chance(15) else { return }
            if random.chance(50) { server?.reset() } else { server?.close() }
            server = nil
            isCut = true
        case .serverCloses:
            guard random.chance(15) else { return }
            server?.send(WebSocketProgram.frame(0x88, [3, 233]))
            server = nil
        case .close: if random.chance(15) { task.cancel(with: .normalClosure, reason: nil) }
        case .cancel: if random.chance(10) { task.cancel() }
        case .wait: world.advance(by: .milliseconds(random.pick(0...3000)))
        }
    }

    private func send(_ text: String, _ task: URLSessionWebSocketTask) {
        asked += 1
        task.send(.string(text)) { [book] error in
            book.withLock { book in
                book.finishedSends += 1
                if error == nil { book.sent.append(text) } else { book.unsent += 1 }
            }
        }
    }

    private func receive(_ task: URLSessionWebSocketTask) {
        task.receive { [book] result in
            book.withLock { book in
                if case .success(.string(let text)) = result {
                    book.received.append(text)
                } else {
                    book.failedReceives += 1
                }
            }
        }
    }

    /// Ends what is still going on, and lets everything come to its end.
    private func finish(_ task: URLSessionWebSocketTask) {
        for _ in 0..<5 { task.resume() }
        if random.chance(50) { task.cancel(with: .normalClosure, reason: nil) } else { task.cancel() }
        world.run(limit: .seconds(60))
        for _ in 0..<60 { receive(task) }
        world.run(limit: .seconds(60))
    }

    private func violations() -> [String] {
        var found = world.finish()
        let book = book.withLock { $0 }
        func demand(_ condition: Bool, _ text: String) { if !condition { found.append(text) } }
        demand(book.completions == 1, "\(book.completions) completions")
        demand(book.finishedSends == asked, "\(book.finishedSends) of \(asked) sends have an answer")
        demand(book.pongs == pinged, "\(book.pongs) of \(pinged) pings have an answer")
        demand(
            book.serverSent.starts(with: book.received),
            "received what was not sent, or in another order"
        )
        demand(book.failedReceives > 0, "a receive behind the end has a message")
        // What the kernel took may be lost with the connection, and a message whose rest was cut may not be whole.
        if book.error == nil, !isCut {
            demand(
                book.atServer.count >= book.sent.count,
                "the server has \(book.atServer.count) of \(book.sent.count)"
            )
        }
        demand(!book.atServer.contains { $0.isEmpty }, "an empty message at the server")
        return found
    }
}
