import Dispatch

@Suite("Uploads from streams")
struct StreamUploadTests {
    private let server: TestServer
    private let outcomes = Outcomes()
    private let session = URLSession.loopback()

    init() throws {
        server = try TestServer()
        server.route("*", "/", .text("taken"))
    }

    private func request(_ stream: InputStream? = nil, fields: [String: String] = [:]) -> AFURLSession.URLRequest {
        var request = URLRequest("PUT", server.url("/"), fields: fields)
        request.httpBodyStream = stream
        return request
    }

    @Test(arguments: [0, 1, 1000, 65_536, 300_000, 1_000_003], [1 << 20, 7777])
    func `a stream arrives in chunks, byte for byte`(size: Int, piece: Int) async throws {
        let content = pattern(size)
        let stream = TestStream(content, pieces: piece)

        let outcome = try await URLSession.loopback().outcome(of: request(stream))

        #expect(outcome.text == "taken", "\(outcome)")
        let received = try #require(server.requests.first)
        #expect(received.body == content)
        #expect(received.headers.values(of: "Transfer-Encoding") == ["chunked"])
        #expect(received.headers.values(of: "Content-Length").isEmpty)
        try await stream.doings.wait { $0.openings == 1 && $0.closings == 1 }
    }

    @Test(arguments: [0, 1, 65_536, 300_001])
    func `a length that was announced frames the stream`(size: Int) async throws {
        let content = pattern(size)
        let fields = ["Content-Length": "\(size)", "Transfer-Encoding": "chunked"]

        let request = request(InputStream(data: content), fields: fields)
        let outcome = try await URLSession.loopback().outcome(of: request)

        #expect(outcome.text == "taken", "\(outcome)")
        let received = try #require(server.requests.first)
        #expect(received.body == content)
        #expect(received.headers.values(of: "Transfer-Encoding").isEmpty)
        #expect(received.headers.values(of: "Content-Length") == ["\(size)"])
    }

    @Test(arguments: [
        (10, 7, "only 7"), (10, 11, "at least 11"), (0, 1, "at least 1"), (100_000, 99_999, "only 99999"),
    ])
    func `T-REQ-16 a stream of another length is an error with both numbers`(
        announced: Int,
        actual: Int,
        words: String
    ) async throws {
        let stream = TestStream(pattern(actual))

        let request = request(stream, fields: ["Content-Length": "\(announced)"])
        let outcome = try await URLSession.loopback().outcome(of: request)

        #expect(outcome.error?.code == .requestBodyStreamExhausted, "\(outcome)")
        #expect(outcome.reason == .body && outcome.error?.loadFailure?.detail == .length)
        let message = outcome.error?.loadFailure?.message ?? ""
        #expect(message.contains("\(announced) bytes") && message.contains(words), "\(message)")
        if announced > 0 { try await server.waitForEnd(ofConnection: 1) }
        #expect(server.requests.allSatisfy { !$0.isComplete })
        try await stream.doings.wait { $0.closings == 1 }
    }

    @Test(arguments: ["", "x", "-1", "+1", "1,1", "1 1", "0x1", "99999999999999999999"])
    func `T-REQ-16 a length that is no number is refused`(length: String) async throws {
        let request = request(InputStream(data: Data([1])), fields: ["Content-Length": length])
        let outcome = try await URLSession.loopback().outcome(of: request)

        #expect(outcome.reason == .request, "\(outcome)")
        #expect(server.acceptedConnections == 0)
    }

    @Test func `T-REQ-21 a stream that was opened or read before is refused, and says so`() async throws {
        let opened = InputStream(data: Data([1]))
        opened.open()
        let read = InputStream(data: Data([1]))
        let first = try await session.outcome(of: request(read))

        for stream in [opened, read] {
            let outcome = try await session.outcome(of: request(stream))

            #expect(outcome.error?.code == .requestBodyStreamExhausted, "\(outcome)")
            #expect(outcome.error?.loadFailure?.message.contains("open already") == true)
        }
        #expect(first.status == 200 && server.requests.count == 1)
    }

    @Test func `T-REQ-21 copies of a request share one stream, and only one gets it`() async throws {
        let original = request(InputStream(data: pattern(1000)))

        for _ in 1...2 { session.dataTask(with: original, completionHandler: outcomes.handler).resume() }

        let both = try await outcomes.wait(for: 2)
        #expect(both.count { $0.status == 200 } == 1)
        #expect(both.count { $0.error?.code == .requestBodyStreamExhausted } == 1)
    }

    @Test func `the error of a stream is that of its task`() async throws {
        let stream = TestStream(Data(count: 1000), end: .failure)

        let outcome = try await URLSession.loopback().outcome(of: request(stream))

        #expect(outcome.error?.loadFailure?.underlyingError is TestStream.Broken, "\(outcome)")
        try await server.waitForEnd(ofConnection: 1)
        #expect(server.requests.allSatisfy { !$0.isComplete })
        try await stream.doings.wait { $0.closings == 1 }
    }

    @Test func `a stream that cannot be opened is closed all the same`() async throws {
        let stream = TestStream(Data(), end: .refusal)

        let outcome = try await URLSession.loopback().outcome(of: request(stream))

        #expect(outcome.error?.loadFailure?.underlyingError is TestStream.Broken, "\(outcome)")
        #expect(server.acceptedConnections == 0)
        try await stream.doings.wait { $0.closings == 1 }
    }

    @Test func `the delegate is asked for the first stream too`() async throws {
        let content = pattern(100_000)
        let source = StreamSource { _ in InputStream(data: content) }
        let session = URLSession.loopback(delegate: source)

        let task = session.uploadTask(withStreamedRequest: request())
        task.resume()
        try await server.waitForRequests(1)

        #expect(source.questions.value == 1)
        #expect(server.requests.first?.body == content)
        #expect(task.countOfBytesExpectedToSend == NSURLSessionTransferSizeUnknown)
    }

    @Test func `a delegate without streams leaves the first one to the request`() async throws {
        let log = EventLog()
        let session = URLSession.loopback(delegate: log)

        session.uploadTask(withStreamedRequest: request(InputStream(data: Data("mine".utf8)))).resume()
        session.uploadTask(withStreamedRequest: request()).resume()
        let events = try await log.finished(2)

        #expect(events.contains(.completed(nil)))
        #expect(events.contains(.completed(URLError.Code.requestBodyStreamExhausted.rawValue)))
        #expect(server.requests.map(\.body) == [Data("mine".utf8)])
    }

    @Test func `a task that is cancelled closes its stream when a read that blocks has returned`() async throws {
        let gate = DispatchSemaphore(value: 0)
        let stream = TestStream(Data(count: 1000), end: .block(gate))
        let task = session.dataTask(with: request(stream), completionHandler: outcomes.handler)
        task.resume()
        try await stream.doings.wait { $0.reads == 2 }

        task.cancel()
        let outcome = try await outcomes.first()
        let closingsBefore = stream.doings.value.closings
        gate.signal()

        #expect(outcome.error?.code == .cancelled)
        #expect(closingsBefore == 0)
        try await stream.doings.wait { $0.closings == 1 }
    }

    @Test func `streams that wait for each other are read side by side`() async throws {
        let gates = (0..<12).map { _ in DispatchSemaphore(value: 0) }
        let session = URLSession.loopback { $0.httpMaximumConnectionsPerHost = 20 }
        let streams = gates.map { TestStream(Data([1]), end: .block($0)) }

        for stream in streams { session.dataTask(with: request(stream), completionHandler: outcomes.handler).resume() }
        for stream in streams { try await stream.doings.wait { $0.reads == 2 } }
        for gate in gates { gate.signal() }

        #expect(try await outcomes.wait(for: 12).allSatisfy { $0.status == 200 })
    }

    @Test func `T-MSG-43 an answer while the stream says nothing is delivered`() async throws {
        let server = try TestServer()
        server.script(.expectHead, .send("HTTP/1.1 413 Too Large\r\nContent-Length: 5\r\n\r\nearly"), .close)
        let gate = DispatchSemaphore(value: 0)
        let stream = TestStream(Data(count: 10), end: .block(gate))
        var request = URLRequest("PUT", server.url("/"))
        request.httpBodyStream = stream

        let outcome = try await URLSession.loopback().outcome(of: request)
        gate.signal()

        #expect(outcome.status == 413 && outcome.text == "early", "\(outcome)")
        try await stream.doings.wait { $0.closings == 1 }
    }

    @Test func `T-MSG-43 while the stream says nothing, an answer that goes on is not late`() async throws {
        let server = try TestServer()
        server.script(
            .expectHead,
            .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"),
            .pause(until: "late"),
            .send("late"),
            .stall
        )
        let gate = DispatchSemaphore(value: 0)
        let stream = TestStream(Data(count: 10), end: .block(gate))
        var request = URLRequest("PUT", server.url("/"))
        request.httpBodyStream = stream
        request.timeoutInterval = 0.5
        URLSession.loopback().dataTask(with: request, completionHandler: outcomes.handler).resume()

        try await Task.sleep(for: .seconds(2))
        server.signal("late")
        let outcome = try await outcomes.first()
        gate.signal()

        #expect(outcome.status == 200 && outcome.text == "late", "\(outcome)")
    }

    @Test func `setting one kind of body removes the other`() {
        var request = request(InputStream(data: Data()))
        #expect(request.httpBody == nil && request.httpBodyStream != nil)

        request.httpBody = Data([1])
        #expect(request.httpBodyStream == nil)
        let other = request
        request.httpBodyStream = InputStream(data: Data())

        #expect(request.httpBody == nil && request.httpBodyStream != nil)
        #expect(request != other && request == request)
    }
}
