@testable import AFURLSession
@testable import AFURLTypes

/// Streams of events from a real server on the loopback interface.
struct EventStreamTests {
    let server: TestServer
    let session = URLSession.loopback()

    init() throws {
        server = try TestServer()
    }

    private func request(_ path: String = "/events", _ method: String = "GET") -> URLRequest {
        URLRequest(method, server.url(path))
    }

    private func failure(of stream: EventStream) async -> LoadFailure? {
        do {
            for try await _ in stream {}
            Issue.record("the stream has ended without an error")
        } catch {
            return (error as? URLError)?.loadFailure
        }
        return nil
    }

    // MARK: - Events

    @Test func `an event is returned when it has arrived`() async throws {
        server.script(
            .expectHead,
            .send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nid: 1\nevent: add\ndata: one\n\nda"),
            .pause(until: "first"),
            .send("ta: two\n\ndata: three\n")
        )

        var events = session.events(for: request(), options: EventStreamOptions(reconnection: .never))
            .makeAsyncIterator()
        #expect(try await events.next() == ServerSentEvent(name: "add", data: "one", id: "1"))
        server.signal("first")
        #expect(try await events.next() == ServerSentEvent(data: "two", id: "1"))
        // The third event has no empty line.
        #expect(try await events.next() == nil)
        #expect(try await events.next() == nil)
        let fields = try #require(server.requests.first?.headers)
        #expect(fields["Accept"] == "text/event-stream")
        #expect(fields["Cache-Control"] == "no-cache" && fields["Pragma"] == "no-cache")
        #expect(fields["Last-Event-ID"] == nil)
    }

    @Test func `the data of an event are decoded`() async throws {
        struct Item: Decodable, Equatable { let number: Int }
        server.install(.events)

        var items: [Item] = []
        for try await event in session.events(from: server.url("/events/3")) { items.append(try event.decode()) }

        #expect(items == [Item(number: 1), Item(number: 2), Item(number: 3)])
    }

    @Test func `a program that does not ask makes the server wait`() async throws {
        let line = Array("data: \(String(repeating: "x", count: 1000))\n\n".utf8)
        let made = Watched(0)
        let body = ReplyBody.generated { _ in
            made.change { $0 += 1 }
            return line
        }
        server.route("GET", "/events", .stream(body, type: "text/event-stream").chunked())

        var events = session.events(for: request()).makeAsyncIterator()
        #expect(try await events.next() != nil)
        // The buffers of both kernels fill, and then nothing is made.
        var before = -1
        while before != made.value, made.value < 20_000 {
            before = made.value
            try await Task.sleep(for: .milliseconds(200))
        }

        #expect(made.value < 20_000)
    }

    @Test func `releasing the iterator ends the load`() async throws {
        server.route("GET", "/events", .firstOfTwo)

        for try await event in session.events(for: request()) {
            #expect(event.data == "a")
            break
        }

        try await eventually { server.openConnections == 0 }
    }

    // MARK: - Connecting again

    @Test func `a stream that ends connects again, with the identifier of the last event`() async throws {
        server.install(.events)

        var numbers: [String] = []
        for try await event in session.events(from: server.url("/events/5?per_response=2"), options: .quick) {
            numbers.append(event.id)
        }

        #expect(numbers == ["1", "2", "3", "4", "5"])
        #expect(server.requests.map { $0.headers["Last-Event-ID"] } == [nil, "2", "4", "5"])
    }

    @Test func `T-SSE-03 an event that breaks off is not returned, and asked for again`() async throws {
        let first = ServerReply.events("id: 1\ndata: a", "id: 2\ndata: b")
        server.enqueue(first.closing(after: 26))
        server.enqueue(first.resetting(after: 0, of: .message))
        server.enqueue(ServerReply.events("id: 2\ndata: b").closing(after: 30))
        server.enqueue(.status(204))

        var options = EventStreamOptions.quick
        options.lastEventID = "0"
        var data: [String] = []
        for try await event in session.events(for: request(), options: options) { data.append(event.data) }

        #expect(data.first == "a" && data.filter { $0 == "b" }.count <= 1)
        #expect(server.requests.count == 4)
        #expect(server.requests.prefix(3).map { $0.headers["Last-Event-ID"] } == ["0", "1", "1"])
    }

    @Test func `T-SSE-04 a request that is not safe is sent once, unless the program asks for more`() async throws {
        server.route("POST", "/events", .events("data: a"))
        var request = request("/events", "POST")
        request.httpBody = Data("question".utf8)

        var count = 0
        for try await _ in session.events(for: request) { count += 1 }
        #expect(count == 1 && server.requests.count == 1)

        var options = EventStreamOptions.quick
        options.reconnection = .always
        for try await _ in session.events(for: request, options: options) {
            count += 1
            if count == 3 { break }
        }
        #expect(server.requests.count == 3 && server.requests.allSatisfy { $0.body == Data("question".utf8) })
    }

    @Test func `a limit of attempts ends a stream that brings nothing`() async throws {
        server.route("GET", "/events", ServerReply.events("data: a").closing(after: 3))

        var options = EventStreamOptions.quick
        options.maximumAttempts = 3
        let failure = await failure(of: session.events(for: request(), options: options))

        #expect(failure?.reason == .lost && server.requests.count == 3)
    }

    @Test func `an event resets the count of attempts`() async throws {
        server.install(.events)
        var options = EventStreamOptions.quick
        options.maximumAttempts = 1

        var count = 0
        for try await _ in session.events(from: server.url("/events/4?per_response=1"), options: options) { count += 1 }

        // Each response brings an event, and then ends.
        #expect(count == 4)
    }

    @Test func `T-SSE-07 an identifier that no request may have is not sent`() async throws {
        server.enqueue(.events("id: a\u{1}b\ndata: a"))
        server.enqueue(.status(204))

        for try await event in session.events(for: request(), options: .quick) { #expect(event.id == "a\u{1}b") }

        #expect(server.requests.count == 2 && server.requests.last?.headers["Last-Event-ID"] == nil)
    }

    // MARK: - Responses that are no event stream

    @Test func `204 ends the stream`() async throws {
        server.route("GET", "/events", .status(204))

        for try await _ in session.events(for: request()) { Issue.record("there is no event") }

        #expect(server.requests.count == 1)
    }

    @Test(arguments: [404, 500, 503, 201, 206])
    func `another status ends the stream, and says which`(status: Int) async throws {
        server.route("GET", "/events", ServerReply.events("data: a").status(status))

        let failure = await failure(of: session.events(for: request(), options: .quick))

        #expect(failure?.reason == .response && failure?.message.contains("\(status)") == true)
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [401, 400, 429, 503])
    func `the error of a refused stream has the response, and what its body says`(status: Int) async throws {
        struct Problem: Decodable { let reason: String }
        let reply = ServerReply.json("{\"reason\": \"too much\"}").status(status).header("Retry-After", "7")
        server.route("POST", "/events", reply)

        let error = await #expect(throws: URLError.self) {
            for try await _ in session.events(for: request("/events", "POST")) {}
        }

        let refused = try #require(error?.refusedResponse)
        #expect(refused.response.statusCode == status && refused.isComplete)
        #expect(refused.response.value(forHTTPHeaderField: "Retry-After") == "7")
        #expect(try refused.decode(Problem.self).reason == "too much" && refused.text.contains("too much"))
        #expect(error?.code == .badServerResponse)
        // The connection is used again.
        await #expect(throws: URLError.self) {
            for try await _ in session.events(for: request("/events", "POST")) {}
        }
        #expect(server.acceptedConnections == 1)
    }

    @Test func `of a long body that is refused the beginning is kept, coded or not`() async throws {
        server.route("GET", "/plain", .stream(.repeating("x", count: 50_000_000), type: "text/html"))
        server.route("GET", "/coded", ServerReply.text(String(repeating: "x", count: 1_000_000)).compressed(.gzip))

        for path in ["/plain", "/coded"] {
            let error = await #expect(throws: URLError.self) {
                for try await _ in session.events(for: request(path), options: .quick) {}
            }
            let refused = try #require(error?.refusedResponse)
            #expect(refused.body == Data(repeating: UInt8(ascii: "x"), count: RefusedResponse.bodyLimit), "\(path)")
            #expect(!refused.isComplete)
        }
        try await eventually { server.openConnections == 0 }
    }

    @Test func `a refused body that breaks off hides nothing of the refusal`() async throws {
        server.route("GET", "/events", ServerReply.text("no such model").status(400).closing(after: 7))

        let error = await #expect(throws: URLError.self) { for try await _ in session.events(for: request()) {} }

        let refused = try #require(error?.refusedResponse)
        #expect(refused.text == "no such" && !refused.isComplete && refused.response.statusCode == 400)
    }

    @Test func `monitors and the error of the task say that the stream was refused`() async throws {
        let tape = EventTape()
        let session = URLSession.loopback { $0.eventMonitors = [tape] }
        server.route("GET", "/events", ServerReply.text("no").status(401))

        await #expect(throws: URLError.self) { for try await _ in session.events(for: request()) {} }

        let end = try #require(try await tape.completed().last { $0.isCompletion })
        guard case .completed(let outcome) = end.kind else { return }
        #expect(outcome.status == 401 && outcome.errorCode == .badServerResponse)
        #expect(outcome.message?.contains("401") == true)
        session.invalidateAndCancel()
    }

    @Test func `a response is read as events after a look at its status`() async throws {
        server.route("GET", "/events", ServerReply.events("id: 1\ndata: a", "data: b").status(201))

        let (bytes, response) = try await session.bytes(for: request())
        #expect((response as? HTTPURLResponse)?.statusCode == 201)
        var events: [ServerSentEvent] = []
        for try await event in bytes.events { events.append(event) }
        #expect(events == [ServerSentEvent(data: "a", id: "1"), ServerSentEvent(data: "b", id: "1")])

        let (long, _) = try await session.bytes(for: request())
        var iterator = long.events(maximumLineLength: 3, maximumEventSize: 100).makeAsyncIterator()
        let error = await #expect(throws: URLError.self) { try await iterator.next() }
        #expect(error?.code == .dataLengthExceedsMaximum)
        #expect(try await iterator.next() == nil)
    }

    @Test(arguments: ["text/html", "text/event-stream-x", "application/json; x=text/event-stream", ""])
    func `T-SSE-08 another content type ends the stream, and the error names it`(type: String) async throws {
        server.route("GET", "/events", .data(Data("data: a\n\n".utf8), type: type.isEmpty ? nil : type))

        let failure = await failure(of: session.events(for: request(), options: .quick))

        #expect(
            failure?.reason == .response && failure?.message.contains(type.isEmpty ? "no content type" : type) == true
        )
        #expect(server.requests.count == 1)
    }

    @Test func `the type may have parameters`() async throws {
        server.enqueue(.data(Data("data: ä\n\n".utf8), type: "Text/Event-Stream; charset=latin1"))
        server.enqueue(.status(204))

        for try await event in session.events(for: request(), options: .quick) { #expect(event.data == "ä") }
    }

    @Test func `a status that the program names is waited out, as long as the server asks`() async throws {
        server.enqueue(.status(503).header("Retry-After", "1"))
        server.enqueue(.events("data: a"))
        server.enqueue(.status(204))
        var options = EventStreamOptions.quick
        options.reconnectingStatusCodes = [503]

        let began = ContinuousClock.now
        var count = 0
        for try await _ in session.events(for: request(), options: options) { count += 1 }

        #expect(count == 1 && server.requests.count == 3)
        #expect(ContinuousClock.now - began >= .seconds(1))
    }

    @Test func `T-SSE-09 an error that would come back is thrown at once`() async throws {
        let authority = try CertificateAuthority()
        let secured = try TestServer(tls: ServerTLS(try authority.issue(for: "localhost")))
        let stream = session.events(from: secured.url("/events", host: "localhost"), options: .quick)

        let failure = await failure(of: stream)

        #expect(failure?.reason == .trust && secured.requests.isEmpty)
        secured.stop()
    }

    @Test func `the events of a data URL and of a file are read once`() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).sse")
        try Data("data: a\n\ndata: b\n\n".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let data = try #require(URL(string: "data:text/event-stream,data:%20a%0A%0Adata:%20b%0A%0A"))

        for url in [file, data] {
            var seen: [String] = []
            for try await event in session.events(from: url, options: .quick) { seen.append(event.data) }
            #expect(seen == ["a", "b"])
        }
    }

    // MARK: - Limits

    @Test func `T-SSE-01 a line and an event have a limit`() async throws {
        server.route("GET", "/events", .stream(.repeating("x", count: 50_000_000), type: "text/event-stream"))
        server.route("GET", "/long", .stream(.repeating("data: abc\n", count: 50_000_000), type: "text/event-stream"))
        var options = EventStreamOptions.quick
        options.maximumLineLength = 1000
        options.maximumEventSize = 1000

        let line = await failure(of: session.events(for: request(), options: options))
        let event = await failure(of: session.events(for: request("/long"), options: options))

        #expect(line?.reason == .limit && line?.message.contains("maximumLineLength") == true)
        #expect(event?.reason == .limit && event?.message.contains("maximumEventSize") == true)
        #expect(server.requests.count == 2)
    }

    // MARK: - Cancelling

    @Test func `cancelling the Swift task ends a stream that waits`() async throws {
        server.route("GET", "/events", .firstOfTwo)
        server.route("GET", "/again", ServerReply.events("data: a").keepAlive(false))
        var slow = EventStreamOptions()
        slow.initialDelay = .seconds(3600)
        slow.maximumDelay = .seconds(3600)

        // One waits for an event, the other to connect again.
        for path in ["/events", "/again"] {
            let stream = session.events(for: request(path), options: slow)
            let seen = Watched(0)
            let task = Task {
                for try await _ in stream { seen.change { $0 += 1 } }
            }
            try await seen.wait("an event") { $0 == 1 }
            task.cancel()
            await #expect(throws: (any Error).self) { try await task.value }
        }
        try await eventually { server.openConnections == 0 }
    }

    // MARK: - Closures

    @Test func `closures hear of the events in order, and of the end once`() async throws {
        server.install(.events)
        let (seen, ends) = (Watched<[String]>([]), Watched<[String]>([]))
        let source = EventStreamReader(request("/events/4?per_response=3"), session: session, options: .quick) {
            event in
            seen.change { $0.append(event.id) }
        } completion: { error in
            ends.change { $0.append(error.map { "\($0)" } ?? "none") }
        }

        source.resume()
        source.resume()

        try await ends.wait("the end") { !$0.isEmpty }
        #expect(seen.value == ["1", "2", "3", "4"] && ends.value == ["none"])
        source.cancel()
        #expect(server.requests.count == 3)
    }

    @Test(arguments: [true, false])
    func `a source that is cancelled is complete, with that error`(isResumed: Bool) async throws {
        server.route("GET", "/events", .firstOfTwo)
        let (seen, ends) = (Watched(0), Watched<[URLError.Code?]>([]))
        let source = EventStreamReader(request(), session: session) { _ in
            seen.change { $0 += 1 }
        } completion: { error in
            ends.change { $0.append((error as? URLError)?.code) }
        }

        if isResumed {
            source.resume()
            try await seen.wait("an event") { $0 == 1 }
        }
        source.cancel()
        source.resume()

        try await ends.wait("the end") { !$0.isEmpty }
        #expect(ends.value == [.cancelled])
    }
}

extension ServerReply {
    /// Sends one event, and falls silent before the second.
    fileprivate static let firstOfTwo = ServerReply.events("data: a", "data: b").stalling(after: 9, of: .content)
}

extension EventStreamOptions {
    /// Connects again after a tenth of a second.
    static var quick: EventStreamOptions {
        var options = EventStreamOptions()
        options.initialDelay = .zero
        return options
    }
}
