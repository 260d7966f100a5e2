import Dispatch

/// A request whose body goes on while its answer arrives (RFC 9110 §7.5).
@Suite struct DuplexTests {
    private static let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    private let server: TestServer
    private let body = FedStream()
    private let log = EventLog()

    init() throws {
        server = try TestServer()
        server.route("GET", "/next", .text("next"))
    }

    private var request: AFURLSession.URLRequest {
        var request = URLRequest("POST", server.url("/"))
        request.httpBodyStream = body
        return request
    }

    /// Answers each piece before it reads the next one, then the end.
    private func converse() {
        server.script(
            .expectHead,
            .expect("3\r\none\r\n"),
            .send(Self.head + "3\r\nONE\r\n"),
            .expect("3\r\ntwo\r\n"),
            .send("3\r\nTWO\r\n"),
            .expect("0\r\n\r\n"),
            .send("0\r\n\r\n"),
            .serve
        )
    }

    @Test func `a delegate hears each answer before the body goes on, and the connection serves the next request`()
        async throws
    {
        converse()
        let session = URLSession.loopback(delegate: log)
        session.dataTask(with: request).resume()

        body.feed("one")
        try await log.events.wait { $0.contains(.data("ONE")) }
        body.feed("two")
        try await log.events.wait { $0.contains(.data("TWO")) }
        body.end()

        #expect(try await log.finished().last == .completed(nil))
        #expect(try await session.outcome(of: URLRequest("GET", server.url("/next"))).text == "next")
        #expect(server.acceptedConnections == 1 && body.closings.value == 1)
    }

    @Test func `an async sequence is read while the body goes on`() async throws {
        converse()
        body.feed("one")
        let (bytes, response) = try await URLSession.loopback().bytes(for: request)
        var heard = ""
        for try await byte in bytes {
            heard.append(Character(Unicode.Scalar(byte)))
            if heard == "ONE" { body.feed("two") }
            if heard == "ONETWO" { body.end() }
        }

        #expect(heard == "ONETWO" && (response as? HTTPURLResponse)?.statusCode == 200)
    }

    @Test func `a stream task reads the answer while the body of its data task goes on`() async throws {
        converse()
        let streams = StreamLog()
        URLSession.loopback(delegate: streams).dataTask(with: request).resume()
        body.feed("one")
        let task = try #require(try await streams.became.wait("a stream task") { $0 != nil })

        var heard: [String] = []
        for next in ["two", ""] {
            let (data, _) = try await task.readData(ofMinLength: 3, maxLength: 3, timeout: 10)
            heard.append(String(decoding: data ?? Data(), as: UTF8.self))
            next.isEmpty ? body.end() : body.feed(next)
        }
        let (_, isAtEnd) = try await task.readData(ofMinLength: 1, maxLength: 3, timeout: 10)

        #expect(heard == ["ONE", "TWO"] && isAtEnd)
        #expect(try await streams.finished().last == .completed(nil))
    }

    @Test func `T-DUP-01 a connection whose request is under way is not given away as a stream`() async throws {
        server.script(
            .expectHead,
            .expect("3\r\none\r\n"),
            .send("HTTP/1.1 200 OK\r\n\r\nONE"),
            .expect("3\r\ntwo\r\n"),
            .expect("0\r\n\r\n"),
            .close
        )
        let streams = StreamLog()
        URLSession.loopback(delegate: streams).dataTask(with: request).resume()
        body.feed("one")
        let task = try #require(try await streams.became.wait("a stream task") { $0 != nil })
        streams.write(task, "GET /smuggled HTTP/1.1\r\n\r\n")
        streams.read(task, 3, 3)
        body.feed("two")
        body.end()
        streams.read(task, 1, 1)

        try await streams.finished()
        try await server.waitForEnd(ofConnection: 1)
        #expect(!streams.events.value.contains(.wrote), "\(streams.events.value)")
        #expect("\(String(describing: server.connections[0].end))".contains("scriptFailed") == false)
    }

    @Test func `an answer that ends first stops the body, whose stream is closed`() async throws {
        server.script(
            .expectHead,
            .expect("3\r\none\r\n"),
            .send(Self.head + "4\r\ndone\r\n0\r\n\r\n"),
            .expectEnd
        )
        let session = URLSession.loopback()
        body.feed("one")

        let outcome = try await session.outcome(of: request)

        #expect(outcome.text == "done" && outcome.error == nil, "\(outcome)")
        // The read that waits ends; the session reads no more.
        body.feed("more")
        try await body.closings.wait { $0 == 1 }
        #expect(try await session.outcome(of: URLRequest("GET", server.url("/next"))).text == "next")
        #expect(server.acceptedConnections == 2)
    }

    @Test func `cancelling ends both directions`() async throws {
        server.script(.expectHead, .expect("3\r\none\r\n"), .send(Self.head + "3\r\nONE\r\n"), .expectEnd)
        let task = URLSession.loopback(delegate: log).dataTask(with: request)
        task.resume()
        body.feed("one")
        try await log.events.wait { $0.contains(.data("ONE")) }

        task.cancel()

        #expect(try await log.finished().last == .completed(URLError.cancelled.rawValue))
        body.feed("more")
        try await body.closings.wait { $0 == 1 }
        try await server.waitForEnd(ofConnection: 1)
    }

    @Test func `the idle time stands still while the stream has nothing, and runs when only the server is waited for`()
        async throws
    {
        server.script(.expectHead, .expect("3\r\none\r\n"), .send(Self.head + "3\r\nONE\r\n"), .stall)
        var request = request
        request.timeoutInterval = 0.3
        URLSession.loopback(delegate: log).dataTask(with: request).resume()
        body.feed("one")
        try await log.events.wait { $0.contains(.data("ONE")) }

        try await Task.sleep(for: .milliseconds(700))
        #expect(log.events.value.last == .data("ONE"))
        body.feed("two")
        try await log.events.wait { $0.last == .sent(6, of: -1) }
        body.end()

        #expect(try await log.finished().last == .completed(URLError.timedOut.rawValue))
        try await body.closings.wait { $0 == 1 }
    }

    @Test func `a delegate that is slow holds up the answer, and not the body`() async throws {
        let gate = DispatchSemaphore(value: 0)
        let slow = EventLog { event, _ in if case .data = event { gate.wait() } }
        server.script(.expectHead, .send(Self.head + "3\r\nONE\r\n"), .receive(2_000_000), .reset)
        var request = request
        request.httpBodyStream = TestStream(pattern(2_000_000), pieces: 100_000)
        let task = URLSession.loopback(delegate: slow).dataTask(with: request)

        task.resume()

        try await eventually("all of the body") { task.countOfBytesSent == 2_000_000 }
        gate.signal()
        try await slow.finished()
    }
}
