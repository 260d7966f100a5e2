@testable import AFURLSession
@testable import AFURLTypes

/// What is in the cache when a task completes.
@Suite("Responses that a delegate admits to the cache")
struct AdmittedResponseTests {
    private static let reply = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 4\r\n\r\nbody"
    private let cache = URLCache(memoryCapacity: 4 << 20, diskCapacity: 0)
    private let world = VirtualWorld()
    private let url = URL(string: "http://a.test/") ?? URL(fileURLWithPath: "/")

    private var stored: String? { AdmittedResponseTests.stored(url, in: cache) }

    private static func stored(_ url: URL, in cache: URLCache) -> String? {
        cache.cachedResponse(for: URLRequest(url: url)).map { String(decoding: $0.data, as: UTF8.self) }
    }

    private func session(
        _ delegate: Admitting,
        _ configure: (URLSessionConfiguration) -> Void = { _ in }
    ) -> (session: URLSession, queue: VirtualQueue) {
        world.script("a.test", .expectRequest, .reply(Self.reply), .again)
        return world.makeSession(delegate: delegate) {
            $0.urlCache = cache
            configure($0)
        }
    }

    /// A task whose delegate has been asked, and has not answered.
    private func askedTask(of session: URLSession, _ delegate: Admitting) -> URLSessionDataTask {
        let task = session.dataTask(with: url)
        task.resume()
        world.run(limit: .seconds(5)) { !delegate.questions.isEmpty }
        world.settle()
        return task
    }

    // MARK: - In time

    @Test func `a task completes when its delegate has said what is stored, and it is stored by then`() {
        let delegate = Admitting(cache)
        let (session, _) = session(delegate)
        let task = askedTask(of: session, delegate)
        world.advance(by: .seconds(10))
        #expect(task.state == .running && delegate.ends == [] && stored == nil)

        delegate.answer { $0 }
        world.run(limit: .seconds(5)) { !delegate.ends.isEmpty }

        #expect(delegate.ends == [Admitting.End(code: nil, stored: "body")])
        #expect(task.state == .completed && task.error == nil)
        #expect(world.finish() == [])
    }

    @Test func `a delegate that refuses, or changes, the response has that done at the completion`() {
        for (text, answer) in [
            (nil, { _ in nil }), ("other", { CachedURLResponse(response: $0.response, data: Data("other".utf8)) }),
        ] as [(String?, (CachedURLResponse) -> CachedURLResponse?)] {
            let delegate = Admitting(cache)
            let (session, _) = session(delegate)
            _ = askedTask(of: session, delegate)
            delegate.answer(answer)
            // The second answer comes too late.
            delegate.answer { $0 }
            world.run(limit: .seconds(5)) { !delegate.ends.isEmpty }
            #expect(delegate.ends == [Admitting.End(code: nil, stored: text)])
            #expect(stored == text)
        }
        #expect(world.finish() == [])
    }

    @Test(arguments: [false, true])
    func `a task that is cancelled while its delegate thinks ends at once, and stores nothing`(byInvalidation: Bool) {
        let delegate = Admitting(cache)
        let (session, _) = session(delegate)
        let task = askedTask(of: session, delegate)

        if byInvalidation { session.invalidateAndCancel() } else { task.cancel() }
        world.run(limit: .seconds(5)) { !delegate.ends.isEmpty }
        #expect(delegate.ends == [Admitting.End(code: URLError.cancelled.rawValue, stored: nil)])
        #expect(!byInvalidation || world.run(limit: .seconds(5)) { delegate.isInvalid })
        delegate.answer { $0 }
        world.run(limit: .seconds(5))

        #expect(stored == nil && delegate.ends.count == 1)
        #expect(world.finish() == [])
    }

    @Test func `a session that ends lets the task of a delegate that thinks finish`() {
        let delegate = Admitting(cache)
        let (session, _) = session(delegate)
        _ = askedTask(of: session, delegate)

        session.finishTasksAndInvalidate()
        world.advance(by: .seconds(10))
        #expect(!delegate.isInvalid && delegate.ends == [])
        delegate.answer { $0 }
        #expect(world.run(limit: .seconds(5)) { delegate.isInvalid })

        #expect(delegate.ends == [Admitting.End(code: nil, stored: "body")])
        #expect(world.finish() == [])
    }

    @Test func `a delegate that never answers has the time of its task run out`() {
        let delegate = Admitting(cache)
        let (session, _) = session(delegate) { $0.timeoutIntervalForResource = 100 }
        let task = askedTask(of: session, delegate)
        world.advance(by: .seconds(90))
        #expect(task.state == .running)

        world.advance(by: .seconds(20))

        #expect(delegate.ends == [Admitting.End(code: URLError.timedOut.rawValue, stored: nil)])
        delegate.answer { $0 }
        world.run(limit: .seconds(5))
        #expect(stored == nil)
        #expect(world.finish() == [])
    }

    @Test func `a delegate that never answers keeps no task alive once that has ended`() {
        weak var released: URLSessionTask?
        let delegate = Admitting(cache)
        let (session, _) = session(delegate)
        do {
            let task = askedTask(of: session, delegate)
            released = task
            task.cancel()
            world.run(limit: .seconds(5)) { !delegate.ends.isEmpty }
        }
        world.run(limit: .seconds(5))
        delegate.forget()
        #expect(released == nil)
        #expect(world.finish() == [])
    }

    @Test func `the answer to a suspended task counts when it is resumed`() {
        let delegate = Admitting(cache)
        let (session, _) = session(delegate) { $0.timeoutIntervalForResource = 100 }
        let task = askedTask(of: session, delegate)

        task.suspend()
        // The time of the suspension does not count.
        world.advance(by: .seconds(1000))
        delegate.answer { $0 }
        delegate.answer { _ in nil }
        world.advance(by: .seconds(1000))
        #expect(task.state == .suspended && stored == nil && delegate.ends == [])
        task.resume()
        world.run(limit: .seconds(5)) { !delegate.ends.isEmpty }

        #expect(delegate.ends == [Admitting.End(code: nil, stored: "body")])
        #expect(world.finish() == [])
    }

    @Test func `the connection serves the next task while a delegate thinks`() {
        let delegate = Admitting(cache)
        let (session, _) = session(delegate)
        _ = askedTask(of: session, delegate)
        let other = session.dataTask(with: url.appendingPathComponent("other"))
        other.resume()
        world.run(limit: .seconds(5)) { delegate.questions.count == 2 }

        #expect(world.network.connections.count == 1)
        delegate.answer { $0 }
        world.run(limit: .seconds(5)) { delegate.ends.count == 2 }
        #expect(world.finish() == [])
    }

    // MARK: - On a queue

    @Test(arguments: [false, true])
    func `a suspended delegate queue holds up the completion, and no cancellation`(isCancelled: Bool) async throws {
        let server = try TestServer()
        for path in ["/first", "/page"] {
            server.route("GET", path, ServerReply.text("body").header("Cache-Control", "max-age=60"))
        }
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let delegate = Admitting(cache, answersAtOnce: true)
        let session = URLSession.loopback(delegate: delegate, queue: queue) { [cache] in $0.urlCache = cache }
        // From then on the session knows that the delegate has no method to judge responses.
        session.dataTask(with: server.url("/first")).resume()
        try await delegate.log.wait { $0.contains("end") }

        queue.isSuspended = true
        let task = session.dataTask(with: server.url("/page"))
        task.resume()
        try await eventually { task.countOfBytesReceived == 4 }
        await session.settled()
        #expect(task.state == .running)
        if isCancelled {
            task.cancel()
            try await eventually { task.state == .completed }
        }
        queue.isSuspended = false
        try await delegate.log.wait { log in log.count { $0 == "end" } == 2 }

        let code = isCancelled ? URLError.cancelled.rawValue : nil
        #expect(delegate.ends.last == Admitting.End(code: code, stored: isCancelled ? nil : "body"))
    }

    @Test func `the response is there for a delegate with the async method`() async throws {
        let server = try TestServer()
        server.route("GET", "/page", ServerReply.text("body").header("Cache-Control", "max-age=60"))
        let delegate = AdmittingLater(cache)
        let session = URLSession.loopback(delegate: delegate) { [cache] in $0.urlCache = cache }

        session.dataTask(with: server.url("/page")).resume()

        #expect(try await delegate.found.wait { !$0.isEmpty } == ["body"])
    }

    @Test func `the response is there for handlers and callers that await`() async throws {
        let server = try TestServer()
        for path in ["/a", "/b"] {
            server.route("GET", path, ServerReply.text("body").header("Cache-Control", "max-age=60"))
        }
        let session = URLSession.loopback { [cache] in $0.urlCache = cache }
        let found = Watched<[String?]>([])

        let url = server.url("/a")
        session.dataTask(with: url) { [cache] _, _, _ in
            found.change { $0.append(AdmittedResponseTests.stored(url, in: cache)) }
        }.resume()
        #expect(try await found.wait { !$0.isEmpty } == ["body"])
        _ = try await session.data(from: server.url("/b"))
        #expect(AdmittedResponseTests.stored(server.url("/b"), in: cache) == "body")
    }

    // MARK: - Classes of the program

    @Test func `what a class of the program has loaded is there at the completion`() async throws {
        let site = StubSite { stub in
            stub.begin(stub.response(200, ["Cache-Control": "max-age=60"]), .allowed)
            stub.load("body")
            stub.finish()
        }
        let url = site.url()
        let found = Watched<[String?]>([])
        let plain = StubSite.session { [cache] in $0.urlCache = cache }
        plain.dataTask(with: url) { [cache] _, _, _ in
            found.change { $0.append(AdmittedResponseTests.stored(url, in: cache)) }
        }.resume()
        #expect(try await found.wait { !$0.isEmpty } == ["body"])
        cache.removeAllCachedResponses()

        let delegate = Admitting(cache)
        let session = StubSite.session(delegate: delegate) { [cache] in $0.urlCache = cache }
        let task = session.dataTask(with: url)
        task.resume()
        try await delegate.log.wait { $0.contains("cache") }
        await session.settled()
        #expect(task.state == .running)
        delegate.answer { $0 }
        try await delegate.log.wait { $0.contains("end") }
        #expect(delegate.ends == [Admitting.End(code: nil, stored: "body")])

        cache.removeAllCachedResponses()
        let cancelled = session.dataTask(with: url)
        cancelled.resume()
        try await delegate.log.wait { log in log.count { $0 == "cache" } == 2 }
        cancelled.cancel()
        try await delegate.log.wait { log in log.count { $0 == "end" } == 2 }
        delegate.answer { $0 }
        await session.settled()
        #expect(delegate.ends.last == Admitting.End(code: URLError.cancelled.rawValue, stored: nil))
        #expect(AdmittedResponseTests.stored(url, in: cache) == nil)
    }
}

/// Answers when the test says so, and looks into the cache when tasks end.
private final class Admitting: URLSessionDataDelegate {
    struct End: Hashable {
        let code: Int?
        let stored: String?
    }

    typealias Completion = @Sendable (CachedURLResponse?) -> Void

    let log = Watched<[String]>([])
    private let cache: URLCache
    private let answersAtOnce: Bool
    private let asked = Lock<[(proposal: CachedURLResponse, completion: Completion)]>([])
    private let ended = Lock<[End]>([])
    private let invalid = Lock(false)

    init(_ cache: URLCache, answersAtOnce: Bool = false) {
        self.cache = cache
        self.answersAtOnce = answersAtOnce
    }

    var questions: [CachedURLResponse] { asked.withLock { $0.map(\.proposal) } }
    var ends: [End] { ended.withLock { $0 } }
    var isInvalid: Bool { invalid.withLock { $0 } }

    /// Answers all questions.
    func answer(_ answer: (CachedURLResponse) -> CachedURLResponse?) {
        for question in asked.withLock({ $0 }) { question.completion(answer(question.proposal)) }
    }

    func forget() {
        asked.withLock { $0 = [] }
    }

    private func note(_ event: String) {
        log.change { $0.append(event) }
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        invalid.withLock { $0 = true }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        note("data")
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping Completion
    ) {
        // Before the note, after which a test answers.
        if !answersAtOnce { asked.withLock { $0.append((proposedResponse, completionHandler)) } }
        note("cache")
        if answersAtOnce { completionHandler(proposedResponse) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let url = task.originalRequest?.url ?? URL(fileURLWithPath: "/")
        let stored = cache.cachedResponse(for: URLRequest(url: url)).map { String(decoding: $0.data, as: UTF8.self) }
        ended.withLock { $0.append(End(code: (error as? URLError)?.code.rawValue, stored: stored)) }
        note("end")
    }
}

/// Admits what it is asked about, after a while.
private final class AdmittingLater: URLSessionDataDelegate {
    let found = Watched<[String?]>([])
    private let cache: URLCache

    init(_ cache: URLCache) {
        self.cache = cache
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse? {
        for _ in 1...100 { await Task.yield() }
        return proposedResponse
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let url = task.originalRequest?.url ?? URL(fileURLWithPath: "/")
        let stored = cache.cachedResponse(for: URLRequest(url: url)).map { String(decoding: $0.data, as: UTF8.self) }
        found.change { $0.append(stored) }
    }
}
