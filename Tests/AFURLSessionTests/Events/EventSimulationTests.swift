import AFWire

@testable import AFURLSession

/// Event streams of servers that cut, stall, refuse and come back at random.
///
/// `AFNET_EVENT_SEEDS` sets how many are run, and `AFNET_EVENT_SEED` replays a single one.
@Suite("Simulated event streams")
struct EventSimulationTests {
    private static let batches = 10
    private static let seeds = number("AFNET_EVENT_SEEDS") ?? 300

    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    @Test(arguments: 0..<batches)
    func `T-SSE-05 T-SSE-10 whatever the server does, no event is missing and the order stays`(batch: Int) {
        guard Self.number("AFNET_EVENT_SEED") == nil else { return }
        let each = (Self.seeds + Self.batches - 1) / Self.batches
        var (events, connections, cancelled) = (0, 0, 0)
        for number in (batch * each)..<((batch + 1) * each) {
            let walk = EventWalk(seed: ModelSeed.first &+ UInt64(number))
            for violation in walk.run().prefix(3) {
                Issue.record("AFNET_EVENT_SEED=\(ModelSeed.first &+ UInt64(number)): \(violation)")
            }
            events += walk.received.count
            connections += walk.requestCount
            if walk.isCancelled { cancelled += 1 }
        }
        // Otherwise nothing was tried.
        #expect(events > each && connections > 2 * each && cancelled > 0)
    }

    @Test func `one of them can be replayed`() {
        guard let seed = Self.number("AFNET_EVENT_SEED") else { return }
        let walk = EventWalk(seed: UInt64(seed))
        let violations = walk.run()
        print(walk.story.joined(separator: "\n"))
        for violation in violations { Issue.record("\(violation)") }
    }
}

/// One stream from its first request to its end.
private final class EventWalk {
    /// What the server wants to tell, and how it writes that.
    private struct Message {
        var id: String?
        var name: String?
        /// Nil: nothing that the client returns, but perhaps an identifier.
        var data: String?
        var text = ""
        /// The identifier that counts behind this message.
        var lastID = ""
    }

    private struct Book {
        var received: [ServerSentEvent] = []
        var end: Result<Void, any Error>?
    }

    private var random: SeededGenerator
    private let world: VirtualWorld
    private let book = Lock(Book())
    private var messages: [Message] = []
    private var violations: [String] = []
    private(set) var story: [String] = []
    private(set) var requestCount = 0
    private(set) var isCancelled = false

    var received: [ServerSentEvent] { book.withLock { $0.received } }

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed ^ 0xE7E7)
        world = VirtualWorld(seed: seed, holdsBack: seed.isMultiple(of: 3) ? 20 : 0)
        world.network.link.latency = 0...5_000_000
    }

    func run() -> [String] {
        makeMessages()
        world.respond("api.test") { [unowned self] request, moment, client in
            if moment == .complete { answer(request, client) }
        }
        var options = EventStreamOptions()
        options.reconnectingStatusCodes = [503]
        let stream = world.session.events(from: URL(string: "http://api.test/events")!, options: options)
        let reader = Task(executorPreference: CallbackTaskExecutor(world.queue)) { [book] in
            do {
                for try await event in stream { book.withLock { $0.received.append(event) } }
                book.withLock { $0.end = .success(()) }
            } catch {
                book.withLock { $0.end = .failure(error) }
            }
        }
        if random.chance(15) {
            world.run(limit: .milliseconds(random.pick(0...60_000))) { isOver }
            isCancelled = !isOver
            reader.cancel()
        }
        world.run(limit: .seconds(1_000_000)) { isOver }
        judge()
        return violations + world.finish()
    }

    private var isOver: Bool { book.withLock { $0.end != nil } }

    private func demand(_ condition: Bool, _ text: @autoclosure () -> String) {
        if !condition { violations.append(text()) }
    }

    // MARK: - The server

    private func makeMessages() {
        let haveIDs = random.pick([100, 100, 60, 0])
        var lastID = ""
        for number in 0..<random.pick(1...12) {
            var message = Message()
            let lineEnd = random.pick(["\n", "\r", "\r\n"])
            if random.chance(haveIDs) {
                message.id = "event \(number)"
                lastID = "event \(number)"
                message.text += "id: event \(number)\(lineEnd)"
            }
            message.lastID = lastID
            if random.chance(30) { message.text += ": still here\(lineEnd)" }
            if random.chance(20) {
                message.name = "name\(number)"
                message.text += "event:name\(number)\(lineEnd)"
            }
            if random.chance(10) { message.text += "retry: \(random.pick(0...9000))\(lineEnd)" }
            if random.chance(85) {
                let lines =
                    (0..<random.pick(0...2)).map { random.pick(["", " spaced", "größer \($0)"]) } + ["\(number)"]
                message.data = lines.joined(separator: "\n")
                for line in lines { message.text += "data: \(line)\(lineEnd)" }
            }
            message.text += lineEnd
            messages.append(message)
        }
    }

    private func answer(_ request: VirtualRequest, _ client: ServerEnd) {
        requestCount += 1
        let asked = request.headers.first("Last-Event-ID") ?? ""
        let start = asked.isEmpty ? 0 : (messages.firstIndex { $0.id == asked } ?? -1) + 1
        demand(asked.isEmpty || start > 0, "asked for what follows \(asked), which the server did not send")
        demandProgress(start)
        let fate = random.pick(0...9)
        story.append("request \(requestCount) after \(asked.debugDescription): \(fate)")
        switch fate {
        case 0: client.close()
        case 1: client.reset()
        case 2:
            let wait = random.chance(50) ? "Retry-After: \(random.pick(0...20))\r\n" : ""
            client.send("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\(wait)\r\n")
        case 3... where start == messages.count || hasAll: client.send("HTTP/1.1 204 No Content\r\n\r\n")
        default: stream(from: start, client)
        }
    }

    /// The client asks for what follows the last identifier that it has, and for nothing further on.
    private func demandProgress(_ start: Int) {
        guard let last = received.last, let place = place(of: last) else { return }
        let skipped = messages[..<start].count { $0.data != nil } - messages[...place].count { $0.data != nil }
        demand(skipped <= 0, "asked for what follows \(start) messages, and has \(place + 1)")
        let mark = messages[...place].lastIndex { $0.id != nil } ?? -1
        demand(mark < start, "asked for message \(start), and has \(mark)")
    }

    /// Whether the client has the last event, after which the server might have no identifier to go on from.
    private var hasAll: Bool {
        received.last.flatMap(place) == messages.lastIndex { $0.data != nil }
    }

    /// Each message has data of its own.
    private func place(of event: ServerSentEvent) -> Int? {
        messages.firstIndex { $0.data == event.data && $0.lastID == event.id && $0.name ?? "message" == event.name }
    }

    private func stream(from start: Int, _ client: ServerEnd) {
        let isChunked = random.chance(50)
        let coding = isChunked ? "Transfer-Encoding: chunked\r\n" : ""
        client.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\(coding)\r\n")
        var rest = messages[start...].flatMap { Array($0.text.utf8) }[...]
        let isCut = random.chance(60)
        if isCut { rest = rest.prefix(random.pick(0...rest.count)) }
        let end = isCut ? random.pick(0...2) : 0
        send(rest, client, isChunked: isChunked) { client in
            switch end {
            case 0:
                if isChunked, !isCut { client.send("0\r\n\r\n") }
                client.close()
            case 1: client.reset()
            default: break  // It says nothing more.
            }
        }
    }

    private func send(
        _ rest: ArraySlice<UInt8>,
        _ client: ServerEnd,
        isChunked: Bool,
        _ end: @escaping (ServerEnd) -> Void
    ) {
        guard !rest.isEmpty else { return end(client) }
        let piece = Array(rest.prefix(random.pick([1, 7, 40, 1000])))
        client.send(isChunked ? Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + [13, 10] : piece)
        let pause = random.pick([0, 0, 1, 500, 5000]) + (random.chance(2) ? 70_000 : 0)
        client.after(.milliseconds(pause)) { [unowned self] client in
            send(rest.dropFirst(piece.count), client, isChunked: isChunked, end)
        }
    }

    // MARK: - What must hold

    private func judge() {
        let (received, end) = book.withLock { ($0.received, $0.end) }
        var next = 0
        for event in received {
            let upcoming = messages[next...].firstIndex { $0.data != nil } ?? messages.count
            guard let place = place(of: event), place <= upcoming else {
                return violations.append("received \(event), and \(next) of \(messages.count) were to come")
            }
            // Without an identifier the server repeats what follows the last one.
            demand(place >= next || messages[place].id == nil, "received \(event) twice")
            next = place + 1
        }
        switch end {
        case .success:
            let isComplete = messages[next...].allSatisfy { $0.data == nil }
            demand(isComplete && !isCancelled, "the stream ends after \(next) of \(messages.count)")
        case .failure(let error): demand(isCancelled, "the stream fails with \(error)")
        case nil: violations.append("the stream does not end")
        }
    }
}
