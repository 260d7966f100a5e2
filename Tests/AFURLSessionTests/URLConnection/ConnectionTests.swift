import AFBase

@testable import AFURLSession
@testable import AFURLTypes

@Suite("URLConnection")
struct ConnectionTests {
    private let server: TestServer
    private let sessions = ConnectionSessions.loopback()

    init() throws {
        server = try TestServer()
        server.route("*", "/hello", .text("hello"))
        server.route("*", "/echo") { .text("\($0.method) \($0.bodyText)") }
    }

    @Test func `a delegate hears the request, the response, data and the end, in this order`() async throws {
        let log = ConnectionLog()

        let connection = try sessions.start(URLRequest(url: server.url("/hello")), log)

        #expect(
            try await log.ended() == [
                .willSend("/hello", redirect: nil), .response(200), .data("hello"), .willCache, .finished,
            ]
        )
        #expect(connection.originalRequest.url == server.url("/hello"))
        #expect(connection.currentRequest.url == server.url("/hello"))
    }

    /// Leaves the question what to do with a response open.
    private final class Undecided: URLSessionDataDelegate {
        let body = Lock(Data())
        let ends = Heard<Bool>()

        func urlSession(
            _ session: URLSession,
            dataTask: URLSessionDataTask,
            didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {}

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            body.withLock { $0 += data }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            ends.add(error == nil)
        }
    }

    @Test func `the session of connections waits for no answer to a response: it is always yes`() async throws {
        let delegate = Undecided()
        let task = sessions.session(usingCredentialStorage: true).dataTask(with: server.url("/hello"))
        task.delegate = delegate
        task.resume()

        #expect(try await delegate.ends.wait(for: 1) == [true])
        #expect(delegate.body.withLock { $0 } == Data("hello".utf8))
    }

    @Test func `connections share a pool`() async throws {
        for _ in 0..<3 {
            let log = ConnectionLog()
            _ = try sessions.start(URLRequest(url: server.url("/hello")), log)
            try await log.ended()
        }

        #expect(server.acceptedConnections == 1)
    }

    @Test func `a request without a URL makes no connection, one that cannot be sent fails`() async throws {
        var nowhere = URLRequest(url: server.url("/"))
        nowhere.url = nil
        let log = ConnectionLog()

        #expect(URLConnection(request: nowhere, delegate: log) == nil)
        _ = try sessions.start(URLRequest("B AD", server.url("/")), log)

        #expect(try await log.ended().last == .failed(URLError.badURL.rawValue))
    }

    @Test func `a file is loaded, its response is none of HTTP`() async throws {
        let folder = try ScratchFolder()
        let file = try folder.file(Data("content".utf8))
        let log = ConnectionLog()

        _ = try sessions.start(URLRequest(url: file), log)

        #expect(try await log.ended().last == .finished)
        #expect(log.text == "content")
        #expect(log.responses.withLock { $0.first } as? HTTPURLResponse == nil)
    }

    @Test func `an error is the last thing heard`() async throws {
        server.route("GET", "/broken", ServerReply.text("hello").closing(after: 2))
        let log = ConnectionLog()

        _ = try sessions.start(URLRequest(url: server.url("/broken")), log)

        let events = try await log.ended()
        #expect(events.last == .failed(URLError.networkConnectionLost.rawValue))
        #expect(log.error.withLock { $0?.loadFailure != nil })
    }

    // MARK: - The request and redirects

    @Test func `the delegate may send another request, or none`() async throws {
        let other = server.url("/echo")
        let log = ConnectionLog(redirect: { _, _ in URLRequest("PUT", other, body: Data("body".utf8)) })
        let none = ConnectionLog(redirect: { _, _ in nil })

        let connection = try sessions.start(URLRequest(url: server.url("/hello")), log)
        _ = try sessions.start(URLRequest(url: server.url("/never")), none)

        #expect(try await log.ended().contains(.data("PUT body")))
        #expect(connection.currentRequest.url == other)
        #expect(
            try await none.ended() == [.willSend("/never", redirect: nil), .failed(URLError.cancelled.rawValue)]
        )
        #expect(server.requests.map(\.path) == ["/echo"])
    }

    @Test func `redirects are shown with their response, and nil delivers them`() async throws {
        server.route("GET", "/1", ServerReply.text("moved").status(302).header("Location", "/hello"))
        let follows = ConnectionLog()
        let stays = ConnectionLog(redirect: { request, response in response == nil ? request : nil })

        _ = try sessions.start(URLRequest(url: server.url("/1")), follows)
        _ = try sessions.start(URLRequest(url: server.url("/1")), stays)

        let first: ConnectionLog.Event = .willSend("/1", redirect: nil)
        #expect(
            try await follows.ended()
                == [first, .willSend("/hello", redirect: 302), .response(200), .data("hello"), .willCache, .finished]
        )
        #expect(
            try await stays.ended()
                == [first, .willSend("/hello", redirect: 302), .response(302), .data("moved"), .finished]
        )
    }

    /// A delegate without any method of its own for requests.
    private final class Plain: URLConnectionDataDelegate {
        let result = Watched<Result<String, URLError>?>(nil)
        private let body = Lock("")

        func connection(_ connection: URLConnection, didReceive data: Data) {
            body.withLock { $0 += String(decoding: data, as: UTF8.self) }
        }

        func connectionDidFinishLoading(_ connection: URLConnection) {
            let body = body.withLock { $0 }
            result.change { $0 = .success(body) }
        }

        func connection(_ connection: URLConnection, didFailWithError error: any Error) {
            result.change { $0 = .failure(error as? URLError ?? URLError(.unknown)) }
        }

        func ended() async throws -> Result<String, URLError>? { try await result.wait { $0 != nil } }
    }

    @Test func `without a method for it the redirect policy decides: no body goes to another origin`() async throws {
        let other = try TestServer()
        let away = other.url("/echo").absoluteString
        server.route("PUT", "/1", ServerReply.status(307).header("Location", away))
        server.route("GET", "/1", ServerReply.status(302).header("Location", away))
        other.route("*", "/echo") { .text($0.method) }
        let (get, put, again) = (Plain(), Plain(), Plain())

        _ = try sessions.start(URLRequest(url: server.url("/1")), get)
        #expect(try await get.ended() == .success("GET"))
        for plain in [put, again] {
            _ = try sessions.start(URLRequest("PUT", server.url("/1"), body: Data("secret".utf8)), plain)
            guard case .failure(let error) = try await plain.ended() else {
                Issue.record("was followed")
                return
            }
            #expect(error.loadFailure?.reason == .redirect)
        }
    }

    // MARK: - Bodies

    @Test func `upload progress adds up`() async throws {
        let log = ConnectionLog()
        let body = Data(repeating: 0x61, count: 300_000)

        _ = try sessions.start(URLRequest("POST", server.url("/echo"), body: body), log)

        let sent = try await log.ended().compactMap { event -> Int? in
            if case .sent(let total, of: 300_000) = event { total } else { nil }
        }
        #expect(sent.last == 300_000 && sent == sent.sorted())
        #expect(log.body.withLock { $0.count } == 300_005)
    }

    @Test func `a stream that must be sent again is asked for`() async throws {
        server.route("PUT", "/1", ServerReply.status(307).header("Location", "/echo"))
        var request = URLRequest("PUT", server.url("/1"))
        request.httpBodyStream = InputStream(data: Data("streamed".utf8))
        let has = ConnectionLog(stream: { InputStream(data: Data("streamed".utf8)) })

        _ = try sessions.start(request, has)
        #expect(try await has.ended().contains(.needsStream))
        #expect(has.text == "PUT streamed")

        request.httpBodyStream = InputStream(data: Data("streamed".utf8))
        let none = ConnectionLog()
        _ = try sessions.start(request, none)
        #expect(try await none.ended().last == .failed(URLError.requestBodyStreamExhausted.rawValue))
    }

    // MARK: - The cache

    @Test func `a response is shown before it is stored, and answers the next connection`() async throws {
        server.route("GET", "/kept", ServerReply.text("kept").header("Cache-Control", "max-age=1000"))
        let (first, second) = (ConnectionLog(), ConnectionLog())

        _ = try sessions.start(URLRequest(url: server.url("/kept")), first)
        let events = try await first.ended()
        _ = try sessions.start(URLRequest(url: server.url("/kept")), second)
        try await second.ended()

        #expect(events.suffix(2) == [.willCache, .finished])
        #expect(second.text == "kept" && server.requests.count == 1)
    }

    // MARK: - Ending

    @Test func `a finished connection holds neither delegate nor itself`() async throws {
        weak var weakLog: ConnectionLog?
        weak var weakConnection: URLConnection?
        do {
            let log = ConnectionLog()
            weakLog = log
            weakConnection = try sessions.start(URLRequest(url: server.url("/hello")), log)
            try await log.ended()
        }
        try await eventually { weakLog == nil && weakConnection == nil }
    }

    @Test func `a running connection needs no reference to it`() async throws {
        let log = ConnectionLog()
        server.route("GET", "/slow", ServerReply.text("slow").held(until: "go"))

        _ = try sessions.start(URLRequest(url: server.url("/slow")), log)
        try await server.waitForRequests(1)
        server.signal("go")

        #expect(try await log.ended().last == .finished)
    }

    @Test func `a cancelled connection lets go of its delegate at once and says nothing`() async throws {
        server.route("GET", "/held", ServerReply.text("held").stalling(after: 0, of: .message))
        weak var weakLog: ConnectionLog?
        let connection: URLConnection
        let events: Watched<[ConnectionLog.Event]>
        do {
            let log = ConnectionLog()
            weakLog = log
            events = log.events
            connection = try sessions.start(URLRequest(url: server.url("/held")), log)
            try await server.waitForRequests(1)
        }
        connection.cancel()
        connection.cancel()
        connection.start()

        try await eventually { weakLog == nil }
        try await server.waitForEnd(ofConnection: 1)
        #expect(events.value == [.willSend("/held", redirect: nil)])
    }

    @Test func `a connection that was never started is released, scheduled or not`() throws {
        weak var weakConnection: URLConnection?
        weak var weakLog: ConnectionLog?
        do {
            let log = ConnectionLog()
            weakLog = log
            let connection = try #require(
                URLConnection(request: URLRequest(url: server.url("/")), delegate: log, startImmediately: false)
            )
            connection.schedule(in: .main, forMode: .default)
            weakConnection = connection
        }
        #expect(weakConnection == nil && weakLog == nil)
    }

    enum Moment: CaseIterable { case request, sent, response, data, end }

    @Test(arguments: Moment.allCases)
    func `cancelled in a callback, it makes no other`(moment: Moment) async throws {
        server.route("POST", "/big", .stream(.repeating("x", count: 2_000_000)))
        let log = ConnectionLog(hook: { event, connection in
            let isIt =
                switch (event, moment) {
                case (.willSend, .request), (.sent, .sent), (.response, .response), (.data, .data): true
                case (.finished, .end): true
                default: false
                }
            if isIt { connection.cancel() }
        })

        _ = try sessions.start(URLRequest("POST", server.url("/big"), body: Data("body".utf8)), log)
        let events = try await log.events.wait { events in
            events.contains { event in
                switch (event, moment) {
                case (.willSend, .request), (.sent, .sent), (.response, .response), (.data, .data): true
                case (.finished, .end): true
                default: false
                }
            }
        }

        for _ in 0..<5 { await URLSession.shared.settled() }
        #expect(log.events.value == events)
    }

    // MARK: - Downloads

    private final class Downloads: URLConnectionDownloadDelegate {
        let ended = Watched<(content: String, path: String)?>(nil)
        let written = Lock<Int64>(0)

        func connection(
            _ connection: URLConnection,
            didWriteData bytesWritten: Int64,
            totalBytesWritten: Int64,
            expectedTotalBytes: Int64
        ) {
            written.withLock { $0 = totalBytesWritten }
        }

        func connectionDidFinishDownloading(_ connection: URLConnection, destinationURL: URL) {
            let content = (try? Data(contentsOf: destinationURL)).map { String(decoding: $0, as: UTF8.self) }
            ended.change { $0 = (content ?? "", destinationURL.path) }
        }

        func connection(_ connection: URLConnection, didFailWithError error: any Error) {
            ended.change { $0 = ("failed", "") }
        }
    }

    @Test func `a delegate for downloads gets a file, which goes away if it is not moved`() async throws {
        let delegate = Downloads()
        let connection = try #require(
            URLConnection(request: URLRequest(url: server.url("/hello")), delegate: delegate, in: sessions)
        )
        connection.setDelegateQueue(OperationQueue())
        connection.start()

        let (content, path) = try #require(try await delegate.ended.wait { $0 != nil })

        #expect(content == "hello" && delegate.written.withLock { $0 } == 5)
        try await eventually { !FileManager.default.fileExists(atPath: path) }
    }

    // MARK: - Several responses

    @Test func `each part of multipart x-mixed-replace has a response, followed by its data`() async throws {
        let body = "--b\r\nContent-Type: text/plain\r\n\r\none\r\n--b\r\nContent-Type: a/b\r\n\r\ntwo\r\n--b--\r\n"
        server.route("GET", "/parts", .data(body.utf8, type: "multipart/x-mixed-replace; boundary=b"))
        let log = ConnectionLog()

        _ = try sessions.start(URLRequest(url: server.url("/parts")), log)

        let events = try await log.ended().dropFirst()
        #expect(
            events == [
                .response(200), .response(200), .data("one"), .response(200), .data("two"), .willCache, .finished,
            ]
        )
        let types = log.responses.withLock { $0.map { $0.mimeType ?? "" } }
        #expect(types == ["multipart/x-mixed-replace", "text/plain", "a/b"])
        #expect(log.responses.withLock { $0.allSatisfy { $0.url == server.url("/parts") } })
    }

    @Test func `a part with a malformed head fails the connection, once`() async throws {
        let body = "--b\r\nno field\r\n\r\none\r\n--b--\r\n"
        server.route("GET", "/parts", .data(body.utf8, type: "multipart/x-mixed-replace; boundary=b"))
        let log = ConnectionLog()

        _ = try sessions.start(URLRequest(url: server.url("/parts")), log)

        #expect(try await log.ended().dropFirst() == [.response(200), .failed(URLError.cannotParseResponse.rawValue)])
    }

    // MARK: - Preflight

    @Test func `what can be handled is said beforehand`() {
        #expect(URLConnection.canHandle(URLRequest(url: server.url("/"))))
        #expect(URLConnection.canHandle(URLRequest(url: URL(fileURLWithPath: "/etc/hosts"))))
        #expect(!URLConnection.canHandle(URLRequest("B AD", server.url("/"))))
        #expect(!URLConnection.canHandle(URLRequest(url: URL(string: "gopher://there/") ?? server.url())))
    }
}
