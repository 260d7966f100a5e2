@testable import AFURLSession
@testable import AFURLTypes

/// As such classes are written for Foundation's loading system.
final class MockURLProtocol: URLProtocol, @unchecked Sendable {
    nonisolated(unsafe) static var requestHandler: ((URLRequest) throws -> (HTTPURLResponse, Data))?

    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard let handler = MockURLProtocol.requestHandler else { return }
        do {
            let (response, data) = try handler(request)
            client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
            client?.urlProtocol(self, didLoad: data)
            client?.urlProtocolDidFinishLoading(self)
        } catch {
            client?.urlProtocol(self, didFailWithError: error)
        }
    }

    override func stopLoading() {}
}

@Suite("Loads by classes of the program")
struct ProtocolTests {
    private let site = StubSite()
    private let log = EventLog()

    @Test func `a class written for Foundation answers`() async throws {
        MockURLProtocol.requestHandler = { request in
            guard let url = request.url, url.path == "/user",
                let response = HTTPURLResponse(url: url, statusCode: 201, httpVersion: nil, headerFields: ["A": "b"])
            else { throw URLError(.fileDoesNotExist) }
            return (response, Data(#"{"name": "Ada"}"#.utf8))
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses?.insert(MockURLProtocol.self, at: 0)
        let session = URLSession(configuration: configuration)

        let url = try #require(URL(string: "https://api.invalid/user"))
        let (data, response) = try await session.data(from: url)
        #expect(String(decoding: data, as: UTF8.self) == #"{"name": "Ada"}"#)
        #expect((response as? HTTPURLResponse)?.statusCode == 201)
        let other = try #require(URL(string: "custom:whatever"))
        await #expect(throws: URLError(.fileDoesNotExist)) { try await session.data(from: other) }
    }

    // MARK: - All kinds of tasks

    @Test func `handlers, delegates, streams and downloads get what the class says`() async throws {
        let folder = try ScratchFolder()
        let body = pattern(700_000)
        let site = StubSite { stub in
            stub.begin(stub.response(200, ["Content-Length": "700000"]))
            stub.load(body.prefix(1))
            stub.load(Data())
            stub.load(body.dropFirst())
            stub.finish()
        }
        let session = StubSite.session(delegate: log) { $0.temporaryFolder = folder.url }

        #expect(try await session.outcome(of: site.url()).data == body)
        let task = session.dataTask(with: site.url())
        task.resume()
        let events = try await log.finished().filter { $0 != .metrics }
        #expect(events.first == .response(200) && events.last == .completed(nil))
        #expect(log.bodies.withLock { $0 } == body)
        #expect(task.countOfBytesReceived == 700_000 && task.countOfBytesExpectedToReceive == 700_000)

        var streamed = Data()
        for try await chunk in try await session.bytes(from: site.url()).0.chunks { streamed.append(chunk) }
        #expect(streamed == body)

        let download = try await session.download(site.url())
        #expect(download.contents == body && download.status == 200)
        try await site.stopped(4)
        #expect(site.log.value.started == 4)
        try await folder.isEmptyAtLast()
    }

    @Test func `a response that is not of HTTP is one, also for a task that becomes a download`() async throws {
        let folder = try ScratchFolder()
        let site = StubSite { stub in
            let url = stub.request.url ?? URL(fileURLWithPath: "/")
            stub.begin(URLResponse(url: url, mimeType: "a/b", expectedContentLength: 5, textEncodingName: "x"))
            stub.load("hello")
            stub.finish()
        }
        let log = DownloadLog(disposition: .becomeDownload)
        let session = StubSite.session(delegate: log) { $0.temporaryFolder = folder.url }

        let (data, response) = try await session.data(from: site.url("/", scheme: "app"))
        #expect(data.count == 5 && response.mimeType == "a/b" && response.textEncodingName == "x")

        session.dataTask(with: site.url("/", scheme: "app")).resume()
        try await log.finished()
        #expect(log.contents.withLock { $0 } == Data("hello".utf8))
        #expect(log.steps.filter { $0 != .metrics } == [.response(0), .became, .file(5), .completed(nil)])
    }

    @Test func `the class sees the body of uploads`() async throws {
        let log = BodyProvider()
        let site = StubSite { stub in
            var body = stub.request.httpBody ?? Data()
            if let stream = stub.request.httpBodyStream {
                var buffer = [UInt8](repeating: 0, count: 100)
                stream.open()
                while case let count = stream.read(&buffer, maxLength: 100), count > 0 { body += buffer[..<count] }
                stream.close()
            }
            stub.answer("\(stub.request.httpMethod ?? "") \(String(decoding: body, as: UTF8.self))")
        }
        let folder = try ScratchFolder()
        try Data("file".utf8).write(to: folder.file("body"))
        let session = StubSite.session()
        let request = URLRequest("POST", site.url())

        #expect(try await session.outcome(of: URLRequest("PUT", site.url(), body: Data("x".utf8))).text == "PUT x")
        for (expected, upload) in [
            ("POST data", { try await session.upload(for: request, from: Data("data".utf8)).0 }),
            ("POST file", { try await session.upload(for: request, fromFile: folder.file("body")).0 }),
        ] as [(String, () async throws -> Data)] {
            #expect(String(decoding: try await upload(), as: UTF8.self) == expected)
        }
        let streaming = StubSite.session(delegate: log)
        streaming.uploadTask(withStreamedRequest: request).resume()
        try await log.log.finished()
        #expect(log.log.bodies.withLock { $0 } == Data("POST stream".utf8))
    }

    // MARK: - Who is asked

    @Test func `classes are asked in order, and the session loads what none wants`() async throws {
        final class Never: URLProtocol, @unchecked Sendable {
            static let asked = Lock<[String]>([])

            override class func canInit(with request: URLRequest) -> Bool {
                asked.withLock { $0.append(request.url?.absoluteString ?? "") }
                return false
            }
        }
        let server = try TestServer()
        server.route("GET", "/", .text("network"))
        let session = URLSession.loopback {
            $0.protocolClasses = [NSObject.self, Never.self, StubProtocol.self]
            $0.httpAdditionalHeaders = ["X-Added": "1"]
        }

        #expect(try await session.outcome(of: site.url("/a")).text == "hello")
        #expect(try await session.outcome(of: server.url()).text == "network")
        #expect(
            try await session.outcome(of: try #require(URL(string: "app:x"))).code == URLError.unsupportedURL.rawValue
        )

        #expect(Never.asked.withLock { $0 } == [site.url("/a").absoluteString, server.url().absoluteString, "app:x"])
        #expect(site.log.value.requests.first?.value(forHTTPHeaderField: "X-Added") == "1")
        #expect(session.configuration.protocolClasses?.count == 2)
    }

    @Test func `a configuration has no classes unless it was given some`() {
        for configuration in [URLSessionConfiguration.default, .ephemeral] {
            #expect(configuration.protocolClasses?.isEmpty == true)
            configuration.protocolClasses?.insert(StubProtocol.self, at: 0)
            #expect(configuration.protocolClasses?.count == 1)
            configuration.protocolClasses = nil
            #expect(configuration.protocolClasses?.isEmpty == true)
        }
    }

    @Test func `a registered class is asked by the shared session, and by no other`() async throws {
        final class Registered: URLProtocol, @unchecked Sendable {
            override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "af-registered" }

            override func startLoading() {
                client?.urlProtocol(self, didLoad: Data("registered".utf8))
                client?.urlProtocolDidFinishLoading(self)
            }
        }
        let url = try #require(URL(string: "af-registered:x"))
        #expect(!URLProtocol.registerClass(NSObject.self))
        #expect(URLProtocol.registerClass(Registered.self) && URLProtocol.registerClass(Registered.self))
        defer { URLProtocol.unregisterClass(Registered.self) }

        #expect(try await URLSession.shared.data(from: url).0 == Data("registered".utf8))
        for configuration in [URLSessionConfiguration.default, .ephemeral, URLSession.shared.configuration] {
            #expect(try await URLSession(configuration: configuration).outcome(of: url).error?.code == .unsupportedURL)
        }
        URLProtocol.unregisterClass(Registered.self)
        await #expect(throws: URLError.self) { try await URLSession.shared.data(from: url) }
    }

    @Test func `a class may be chosen by its task, and change the request first`() async throws {
        final class ByTask: URLProtocol, @unchecked Sendable {
            override class func canInit(with task: URLSessionTask) -> Bool { task.taskDescription == "mine" }

            override class func canonicalRequest(for request: URLRequest) -> URLRequest {
                var request = request
                request.setValue("yes", forHTTPHeaderField: "Canonical")
                return request
            }

            override func startLoading() {
                let isSame = task?.currentRequest == request
                client?.urlProtocol(
                    self,
                    didLoad: Data("\(isSame) \(request.value(forHTTPHeaderField: "Canonical") ?? "")".utf8)
                )
                client?.urlProtocolDidFinishLoading(self)
            }
        }
        let session = URLSession.loopback { $0.protocolClasses = [ByTask.self] }
        let outcomes = Outcomes()
        let task = session.dataTask(with: site.url(), completionHandler: outcomes.handler)
        task.taskDescription = "mine"
        task.resume()
        #expect(try await outcomes.first().text == "true yes")
        #expect(task.originalRequest?.value(forHTTPHeaderField: "Canonical") == nil)
    }

    @Test func `a class may wait for another session, and know its own requests again`() async throws {
        final class Relay: URLProtocol, @unchecked Sendable {
            override class func canInit(with request: URLRequest) -> Bool {
                URLProtocol.property(forKey: "seen", in: request) == nil
            }

            override func startLoading() {
                var request = request
                URLProtocol.setProperty(true, forKey: "seen", in: &request)
                let answer = Lock<(Data?, URLResponse?)>((nil, nil))
                let done = DispatchSemaphore(value: 0)
                let session = URLSession.loopback { $0.protocolClasses = [Relay.self] }
                session.dataTask(with: request) { data, response, _ in
                    answer.withLock { $0 = (data, response) }
                    done.signal()
                }.resume()
                _ = done.wait(timeout: .now() + 10)
                let (data, response) = answer.withLock { $0 }
                if let response { client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed) }
                if let data { client?.urlProtocol(self, didLoad: data) }
                client?.urlProtocolDidFinishLoading(self)
            }
        }
        let server = try TestServer()
        server.route("GET", "/", .text("relayed"))
        let session = URLSession.loopback { $0.protocolClasses = [Relay.self] }

        #expect(try await session.outcome(of: server.url()).text == "relayed")
        #expect(server.requests.count == 1)
    }

    @Test func `properties of requests are copied with them, and can be removed`() {
        var request = URLRequest(url: site.url())
        #expect(URLProtocol.property(forKey: "a", in: request) == nil)
        URLProtocol.setProperty(1, forKey: "a", in: &request)
        var copy = request
        URLProtocol.setProperty("x", forKey: "b", in: &copy)
        URLProtocol.removeProperty(forKey: "a", in: &copy)
        #expect(URLProtocol.property(forKey: "a", in: request) as? Int == 1)
        #expect(URLProtocol.property(forKey: "a", in: copy) == nil)
        #expect(URLProtocol.property(forKey: "b", in: copy) as? String == "x")
        #expect(copy == request)
        URLProtocol.removeProperty(forKey: "b", in: &copy)
        #expect(copy.contents.properties == nil)
    }

    // MARK: - What the client is told

    @Test func `the error of a class is the task's error`() async throws {
        let failure = NSError(domain: "mine", code: 7)
        let site = StubSite { stub in
            stub.begin()
            stub.load("part")
            stub.fail(failure)
        }
        let session = StubSite.session()
        let error = await #expect(throws: (any Error).self) { try await session.data(from: site.url()) }
        #expect(error.map { $0 as NSError } == failure)
        try await site.stopped()
    }

    @Test func `data without a response gets one, and only the first response counts`() async throws {
        let bare = StubSite { stub in stub.finish() }
        let session = StubSite.session()
        let (data, response) = try await session.data(from: bare.url())
        #expect(data.isEmpty && response.url == bare.url() && response.expectedContentLength == -1)

        let twice = StubSite { stub in
            stub.begin(stub.response(200))
            stub.begin(stub.response(404))
            stub.load("x")
            stub.finish()
        }
        #expect(try await session.outcome(of: twice.url()).status == 200)
    }

    @Test func `calls after the end, or of many threads at once, have no effect`() async throws {
        let late = Lock<[StubProtocol]>([])
        let site = StubSite { stub in
            late.withLock { $0.append(stub) }
            stub.answer("hello")
            stub.answer("again")
            stub.fail(URLError(.badURL))
            stub.finish()
        }
        let session = StubSite.session()
        for _ in 0..<20 {
            #expect(try await session.outcome(of: site.url()).text == "hello")
        }
        try await site.stopped(20)
        let stubs = late.withLock { $0 }
        DispatchQueue.concurrentPerform(iterations: 40) { number in
            let stub = stubs[number % stubs.count]
            stub.answer("late")
            stub.redirect(to: site.url("/late"))
            stub.client?.urlProtocol(
                stub,
                cachedResponseIsValid: CachedURLResponse(response: stub.response(), data: Data())
            )
        }
        await session.settled()
        #expect(site.log.value.started == 20 && site.log.value.stopped == 20)
    }

    @Test func `every cancelled load is stopped once, if it was started`() async throws {
        let site = StubSite { stub in
            stub.begin()
            Thread.detachNewThread {
                for _ in 0..<200 { stub.load("piece") }
                stub.finish()
            }
        }
        let session = StubSite.session()
        let outcomes = Outcomes()
        for number in 0..<60 {
            let task = session.dataTask(with: site.url(), completionHandler: outcomes.handler)
            task.resume()
            if number % 3 == 0 { await session.settled() }
            if number % 4 != 0 { task.cancel() }
        }
        let all = try await outcomes.wait(for: 60)
        #expect(all.allSatisfy { $0.error == nil ? $0.data?.count == 1000 : $0.error?.code == .cancelled })
        try await site.log.wait("as many stops as starts") { $0.started == $0.stopped && $0.started >= 15 }
        #expect(outcomes.all.value.count == 60)
    }

    @Test func `a suspended task gets nothing, and what waits for it is bounded`() async throws {
        let goOn = Watched<StubProtocol?>(nil)
        let site = StubSite { stub in goOn.change { $0 = stub } }
        let session = StubSite.session { $0.maximumBodyInMemory = 1 << 20 }
        let task = session.dataTask(with: site.url())
        task.delegate = log
        task.resume()
        let stub = try #require(try await goOn.wait("the start") { $0 != nil })
        task.suspend()
        await session.settled()
        stub.answer("hello")
        await session.settled()
        #expect(log.events.value == [])
        task.resume()
        #expect(try await log.finished() == [.response(200), .data("hello"), .metrics, .completed(nil)])

        goOn.change { $0 = nil }
        let flooded = session.dataTask(with: site.url())
        flooded.delegate = EventLog()
        flooded.resume()
        let flood = try #require(try await goOn.wait("the start") { $0 != nil })
        flooded.suspend()
        await session.settled()
        for _ in 0..<64 { flood.load(Data(count: 64 << 10)) }
        flooded.resume()
        try await eventually { flooded.state == .completed }
        #expect((flooded.error as? URLError)?.code == .dataLengthExceedsMaximum)
    }

    @Test func `metrics have a transaction whose source is not known`() async throws {
        let session = StubSite.session(delegate: log)
        session.dataTask(with: site.url()).resume()
        try await log.finished()
        let transactions = try #require(log.metrics.withLock { $0 }).transactionMetrics
        #expect(transactions.map(\.resourceFetchType) == [.unknown])
        #expect(transactions[0].countOfResponseBodyBytesReceived == 5 && transactions[0].responseEndDate != nil)
        #expect(transactions[0].networkProtocolName == nil)
    }
}

/// Has a stream for each task that needs one.
private final class BodyProvider: URLSessionDataDelegate {
    let log = EventLog()

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(InputStream(data: Data("stream".utf8)))
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        log.urlSession(session, dataTask: dataTask, didReceive: data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        log.urlSession(session, task: task, didCompleteWithError: error)
    }
}
