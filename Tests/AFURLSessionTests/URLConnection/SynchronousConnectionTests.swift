import Dispatch

@testable import AFURLSession
@testable import AFURLTypes

@Suite("Simple loads of URLConnection")
struct SynchronousConnectionTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
        server.route("*", "/hello", .text("hello"))
    }

    /// The result of a synchronous load, and the status of its response.
    private static func load(_ url: URL) -> (result: Result<Data, any Error>, status: Int?) {
        var response: URLResponse?
        let result = Result { try URLConnection.sendSynchronousRequest(URLRequest(url: url), returning: &response) }
        return (result, (response as? HTTPURLResponse)?.statusCode)
    }

    @Test func `on a thread it blocks, and its run loop does not run`() async throws {
        let url = server.url("/hello")
        let outcome = Watched<(text: String?, status: Int?, ticks: Int)?>(nil)
        Thread.detachNewThread {
            let ticks = Lock(0)
            RunLoop.current.perform { ticks.withLock { $0 += 1 } }
            let (result, status) = Self.load(url)
            let text = (try? result.get()).map { String(decoding: $0, as: UTF8.self) }
            let count = ticks.withLock { $0 }
            outcome.change { $0 = (text, status, count) }
        }

        let found = try #require(try await outcome.wait { $0 != nil })
        #expect(found.text == "hello" && found.status == 200 && found.ticks == 0)
    }

    @Test func `on the main queue it answers`() async throws {
        let url = server.url("/hello")
        let outcome = Watched<String?>(nil)
        DispatchQueue.main.async {
            let data = try? Self.load(url).result.get()
            outcome.change { $0 = data.map { String(decoding: $0, as: UTF8.self) } ?? "" }
        }

        #expect(try await outcome.wait { $0 != nil } == "hello")
    }

    @Test func `on a serial queue, and in a callback on a queue, it answers`() async throws {
        let url = server.url("/hello")
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let outcome = Watched<String?>(nil)
        let log = ConnectionLog(hook: { event, _ in
            guard case .response = event else { return }
            let data = try? Self.load(url).result.get()
            outcome.change { $0 = data.map { String(decoding: $0, as: UTF8.self) } ?? "" }
        })
        let connection = try #require(
            URLConnection(request: URLRequest(url: url), delegate: log, in: .loopback())
        )
        connection.setDelegateQueue(queue)
        connection.start()

        #expect(try await outcome.wait { $0 != nil } == "hello")
        #expect(try await log.ended().last == .finished)
    }

    @Test func `on the network thread it fails at once, and says why`() async throws {
        let url = server.url("/hello")
        let outcome = Watched<URLError?>(nil)
        URLConnection.perform(onNetworkThreadIn: [.default]) {
            guard case .failure(let error) = Self.load(url).result else { return }
            outcome.change { $0 = error as? URLError }
        }

        let error = try #require(try await outcome.wait { $0 != nil })
        #expect(error.code == .cannotLoadFromNetwork)
        #expect(error.loadFailure?.detail == .caller)
        #expect(error.loadFailure?.message.contains("network thread") == true)
        #expect(server.requests.isEmpty)
    }

    @Test func `a failure is thrown, and the response is there if there was one`() throws {
        server.route("GET", "/broken", ServerReply.text("hello").closing(after: 2))
        let refused = URL(string: "http://127.0.0.1:1/") ?? server.url()

        let broken = Self.load(server.url("/broken"))
        let nothing = Self.load(refused)

        #expect(throws: URLError.self) { try broken.result.get() }
        #expect(broken.status == 200)
        #expect(throws: URLError.self) { try nothing.result.get() }
        #expect(nothing.status == nil)
    }

    // MARK: - The caller runs the loop

    /// Sessions with a network thread of their own, so that nothing else is under way.
    private static func sessions(_ configuration: URLSessionConfiguration) -> (OwnWorld, ConnectionSessions) {
        let own = OwnWorld()
        return (own, ConnectionSessions(configuration: configuration, in: own.world))
    }

    /// Notes on which threads it is asked.
    private final class Judge: ServerEvaluator {
        let threads = Lock<[pthread_t]>([])

        func evaluate(_ trust: ServerTrust) -> ServerTrustDecision {
            threads.withLock { $0.append(pthread_self()) }
            return .accept
        }
    }

    @Test func `a caller that waits again and again runs the loop itself, and the loads are complete`() throws {
        // Each request needs a new connection, and so asks the evaluator.
        let server = try TestServer(tls: ServerTLS(try CertificateAuthority("CA").issue(for: "127.0.0.1")))
        server.route("GET", "/hello", ServerReply.text("hello").header("Connection", "close"))
        let (own, sessions) = Self.sessions(.ephemeral)
        let judge = Judge()
        var tls = TLSConfiguration()
        tls.evaluator = judge
        for _ in 1...30 {
            var response: URLResponse?
            let data = try URLConnection.sendSynchronousRequest(
                URLRequest(url: server.url("/hello")),
                tls: tls,
                returning: &response,
                in: sessions
            )
            #expect(data == Data("hello".utf8))
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
        }
        let threads = judge.threads.withLock { $0 }
        #expect(threads.count == 30)
        #expect(threads.first != pthread_self())
        #expect(threads.contains(pthread_self()))
        sessions.invalidate()
        #expect(own.stop())
    }

    @Test func `a caller that waits goes through a proxy, and its loads are complete`() throws {
        let server = try TestServer(tls: ServerTLS(try CertificateAuthority("CA").issue(for: "127.0.0.1")))
        server.route("GET", "/hello", ServerReply.text("hello").header("Connection", "close"))
        let proxy = try TestProxy()
        let configuration = URLSessionConfiguration.ephemeral
        var proxies = ProxyConfiguration(try ProxyServer(proxy.url.absoluteString))
        proxies.includesLoopback = true
        configuration.proxies = proxies
        let judge = Judge()
        var tls = TLSConfiguration()
        tls.evaluator = judge
        let (own, sessions) = Self.sessions(configuration)
        for _ in 1...30 {
            let request = URLRequest(url: server.url("/hello"))
            let data = try URLConnection.sendSynchronousRequest(request, tls: tls, returning: nil, in: sessions)
            #expect(data == Data("hello".utf8))
        }
        #expect(proxy.requests.count == 30)
        #expect(judge.threads.withLock { $0 }.contains(pthread_self()))
        sessions.invalidate()
        #expect(own.stop())
    }

    @Test func `a cache with files answers callers that wait, and keeps what they load`() throws {
        let scratch = try ScratchFolder()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = URLCache(memoryCapacity: 0, diskCapacity: 4 << 20, directory: scratch.url)
        server.route("GET", "/kept/*", ServerReply.text("kept").header("Cache-Control", "max-age=600"))
        let (own, sessions) = Self.sessions(configuration)
        for round in 1...3 {
            for number in 1...20 {
                let request = URLRequest(url: server.url("/kept/\(number)"))
                let data = try URLConnection.sendSynchronousRequest(request, returning: nil, in: sessions)
                #expect(data == Data("kept".utf8), "round \(round), number \(number)")
            }
        }
        #expect(server.requests.count == 20)
        sessions.invalidate()
        #expect(own.stop())
    }

    /// Answers every request itself, and notes on which threads it is called.
    private final class Answerer: URLProtocol, @unchecked Sendable {
        static let threads = Lock<[pthread_t]>([])

        private static func note() { threads.withLock { $0.append(pthread_self()) } }

        override static func canInit(with request: URLRequest) -> Bool {
            note()
            return true
        }

        override static func canonicalRequest(for request: URLRequest) -> URLRequest { request }

        override func startLoading() {
            Self.note()
            client?.urlProtocol(self, didLoad: Data("own".utf8))
            client?.urlProtocolDidFinishLoading(self)
        }

        override func stopLoading() { Self.note() }
    }

    @Test func `a protocol class answers callers that wait, and is never called on their thread`() throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Answerer.self]
        let (own, sessions) = Self.sessions(configuration)
        for _ in 1...30 {
            let request = URLRequest(url: server.url("/hello"))
            let data = try URLConnection.sendSynchronousRequest(request, returning: nil, in: sessions)
            #expect(data == Data("own".utf8))
        }
        let threads = Answerer.threads.withLock { $0 }
        #expect(threads.count >= 60 && !threads.contains(pthread_self()))
        #expect(server.requests.isEmpty)
        sessions.invalidate()
        #expect(own.stop())
    }

    @Test func `a delegate on the network thread is called there while another thread waits`() async throws {
        let (own, sessions) = Self.sessions(.ephemeral)
        let request = URLRequest(url: server.url("/hello"))
        let isOver = Lock(false)
        let hasEnded = Watched(false)
        let caller = Lock<pthread_t>(pthread_self())
        Thread.detachNewThread {
            caller.withLock { $0 = pthread_self() }
            while !isOver.withLock({ $0 }) {
                let data = try? URLConnection.sendSynchronousRequest(request, returning: nil, in: sessions)
                #expect(data == Data("hello".utf8))
            }
            hasEnded.change { $0 = true }
        }
        let threads = Lock<[pthread_t]>([])
        for _ in 1...20 {
            let log = ConnectionLog(hook: { _, _ in threads.withLock { $0.append(pthread_self()) } })
            let connection = try sessions.start(request, log)
            #expect(try await log.ended().last == .finished)
            withExtendedLifetime(connection) {}
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...120)))
        }
        isOver.withLock { $0 = true }
        _ = try await hasEnded.wait { $0 }
        let found = threads.withLock { $0 }
        #expect(found.count >= 60)
        #expect(Set(found.map { UInt($0) }).count == 1)
        #expect(!found.contains(caller.withLock { $0 }))
        sessions.invalidate()
        #expect(own.stop())
    }

    @Test func `an asynchronous load calls back on its queue, once`() async throws {
        let queue = OperationQueue()
        let calls = Watched<[String]>([])
        let isThere = Lock(true)

        URLConnection.sendAsynchronousRequest(URLRequest(url: server.url("/hello")), queue: queue) {
            response,
            data,
            _ in
            if OperationQueue.current !== queue { isThere.withLock { $0 = false } }
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            calls.change { $0.append("\(status) \(String(decoding: data ?? Data(), as: UTF8.self))") }
        }
        let refused = URL(string: "http://127.0.0.1:1/") ?? server.url()
        URLConnection.sendAsynchronousRequest(URLRequest(url: refused), queue: queue) { response, data, error in
            calls.change { $0.append("\(response == nil && data == nil && error is URLError)") }
        }

        #expect(Set(try await calls.wait { $0.count == 2 }) == ["200 hello", "true"])
        #expect(isThere.withLock { $0 })
    }
}
