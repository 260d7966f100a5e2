@testable import AFURLSession

/// A WebSocket that is opened again, against a real server on the loopback interface.
@Suite(.serialized)
struct ReconnectingWebSocketTests {
    private final class Listener: ReconnectingWebSocketDelegate {
        let words = Watched<[String]>([])
        let waits = Lock<[Duration]>([])

        func webSocket(_ webSocket: ReconnectingWebSocket, didOpen task: URLSessionWebSocketTask) {
            words.change { $0.append("open") }
        }

        func webSocket(_ webSocket: ReconnectingWebSocket, didReceive message: URLSessionWebSocketTask.Message) {
            if case .string(let text) = message { words.change { $0.append(text) } }
        }

        func webSocket(
            _ webSocket: ReconnectingWebSocket,
            willReconnectAfter wait: Duration,
            attempt: Int,
            because error: (any Error)?
        ) {
            waits.withLock { $0.append(wait) }
            words.change { $0.append("again \(attempt)") }
        }

        func webSocket(_ webSocket: ReconnectingWebSocket, didEndWith error: (any Error)?) {
            words.change { $0.append(error == nil ? "end" : "end with an error") }
        }

        func ended() async throws -> [String] {
            try await words.wait("the end") { $0.last?.hasPrefix("end") == true }
        }
    }

    private let server: TestServer
    private let listener = Listener()
    private let count = Lock(0)

    init() throws {
        server = try TestServer()
    }

    /// How often the server was asked, this time included.
    private func serve(_ answer: @escaping @Sendable (Int) -> ServerReply) {
        server.route("GET", "/ws") { [count] _ in
            answer(
                count.withLock { count in
                    count += 1
                    return count
                }
            )
        }
    }

    private func socket(
        _ delegate: (any ReconnectingWebSocketDelegate)?,
        _ change: (inout ReconnectionOptions) -> Void = { _ in }
    ) -> ReconnectingWebSocket {
        var reconnection = ReconnectionOptions()
        reconnection.initialDelay = .milliseconds(1)
        change(&reconnection)
        return ReconnectingWebSocket(
            URLRequest(url: server.url("/ws")),
            session: .loopback(),
            reconnection: reconnection,
            delegate: delegate
        )
    }

    private func socket(_ change: (inout ReconnectionOptions) -> Void = { _ in }) -> ReconnectingWebSocket {
        socket(listener, change)
    }

    // MARK: - As a sequence

    @Test func `without a delegate the messages of all connections are a sequence`() async throws {
        serve { number in
            .webSocket { socket in
                for part in 1...3 { try socket.send(text: "\(number).\(part)") }
                if number == 3 { try socket.close() }
            }
        }
        let socket = socket(nil)
        #expect(socket.condition == .idle)
        var texts: [String] = []
        for try await message in socket.messages {
            if texts.isEmpty { #expect(socket.condition == .open) }
            if case .string(let text) = message { texts.append(text) }
        }
        #expect(texts == (1...3).flatMap { number in (1...3).map { "\(number).\($0)" } })
        #expect(socket.condition == .over)
        var iterator = socket.messages.makeAsyncIterator()
        #expect(try await iterator.next() == nil)
    }

    @Test func `the sequence throws what ends the WebSocket, and ends when the program closes`() async throws {
        serve { _ in .status(404) }
        let refused = socket(nil)
        let error = await #expect(throws: URLError.self) { for try await _ in refused.messages {} }
        #expect(error?.loadFailure?.detail == .upgrade)

        serve { _ in
            .webSocket { socket in
                for number in 1...1000 { try socket.send(text: "\(number)") }
                _ = try socket.receive()
            }
        }
        let closed = socket(nil)
        var count = 0
        for try await _ in closed.messages {
            count += 1
            if count == 2 { closed.close() }
        }
        #expect(count == 2)
        try await eventually { closed.condition == .over }
        await #expect(throws: URLError.self) { try await closed.sendPing() }
    }

    @Test func `a reader that is cancelled leaves the messages to others`() async throws {
        serve { _ in
            .webSocket { socket in
                while case .text(let text)? = try socket.receive() { try socket.send(text: text) }
            }
        }
        let socket = socket(nil)
        let reader = Task { for try await _ in socket.messages {} }
        try await socket.sendPing()
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        #expect(socket.condition == .open)

        try await socket.send(.string("hello"))
        var iterator = socket.messages.makeAsyncIterator()
        #expect(try await iterator.next() == .string("hello"))
        socket.close()
    }

    // MARK: - With a delegate

    @Test func `a connection that is lost is made again, until the server closes for good`() async throws {
        serve { number in
            .webSocket { socket in
                try socket.send(text: "\(number)")
                if number == 3 { try socket.close() }
            }
        }
        socket().resume()
        #expect(try await listener.ended() == ["open", "1", "again 1", "open", "2", "again 1", "open", "3", "end"])
    }

    @Test(arguments: [Duration.milliseconds(10), .zero])
    func `attempts that come to nothing have a limit`(delay: Duration) async throws {
        serve { _ in .status(503) }
        socket { ($0.initialDelay, $0.maximumDelay, $0.maximumAttempts) = (delay, delay, 3) }.resume()
        #expect(try await listener.ended() == ["again 2", "again 3", "end with an error"])
        #expect(count.withLock { $0 } == 3)
    }

    @Test func `the waits double after a loss, and are as long as the server asks`() async throws {
        serve { number in
            switch number {
            case 1: .webSocket { try $0.send(text: "hello") }
            case 4: ServerReply.status(503).header("Retry-After", "1")
            default: .status(503)
            }
        }
        socket {
            ($0.initialDelay, $0.maximumDelay, $0.maximumAttempts) = (.milliseconds(20), .milliseconds(400), 4)
        }
        .resume()

        #expect(try await listener.ended().last == "end with an error")
        let waits = listener.waits.withLock { $0 }
        // 20 after the loss, 40 and 80 after the next two, and the most for what the server asks.
        #expect(waits.count == 4)
        for (wait, least) in zip(waits, [20, 40, 80, 400]) {
            #expect(wait >= .milliseconds(least) && wait <= .milliseconds(least + least / 4))
        }
    }

    @Test func `a status or a code that would come back ends it`() async throws {
        serve { _ in .status(404) }
        socket().resume()
        #expect(try await listener.ended() == ["end with an error"])

        let other = Listener()
        serve { _ in .webSocket { try $0.close(1008) } }
        ReconnectingWebSocket(URLRequest(url: server.url("/ws")), session: .loopback(), delegate: other).resume()
        #expect(try await other.ended() == ["open", "end with an error"])
    }

    @Test func `closing ends the wait for another attempt`() async throws {
        serve { _ in .status(503) }
        let socket = socket { ($0.initialDelay, $0.maximumDelay) = (.seconds(1000), .seconds(1000)) }
        socket.resume()
        try await listener.words.wait("the wait") { $0.count == 1 }
        socket.close()
        #expect(try await listener.ended() == ["again 2", "end"])
    }

    @Test func `the end of the session ends the wait for another attempt`() async throws {
        serve { _ in .status(503) }
        let session = URLSession.loopback()
        var reconnection = ReconnectionOptions()
        (reconnection.initialDelay, reconnection.maximumDelay) = (.seconds(1000), .seconds(1000))
        let request = URLRequest(url: server.url("/ws"))
        ReconnectingWebSocket(request, session: session, reconnection: reconnection, delegate: listener).resume()
        try await listener.words.wait("the wait") { $0.count == 1 }
        session.finishTasksAndInvalidate()
        #expect(try await listener.ended() == ["again 2", "end with an error"])
        #expect(count.withLock { $0 } == 1)
    }

    @Test func `messages wait for the next connection, unless their Swift task is cancelled`() async throws {
        serve { number in
            number == 1
                ? .status(503)
                : .webSocket { socket in
                    while case .text(let text)? = try socket.receive() { try socket.send(text: text) }
                }
        }
        let socket = socket { ($0.initialDelay, $0.maximumDelay) = (.milliseconds(200), .milliseconds(200)) }
        let cancelled = Task { try await socket.send(.string("never")) }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        socket.resume()
        try await socket.send(.string("kept"))
        try await listener.words.wait("the echo") { $0.contains("kept") }
        socket.close()
        #expect(try await listener.ended() == ["again 2", "open", "kept", "end"])
        await #expect(throws: URLError.self) { try await socket.send(.string("late")) }
    }
}
