@testable import AFURLSession
@testable import AFURLTypes

@Suite("Adapting requests")
struct AdapterTests {
    private let server: TestServer
    private let other: TestServer

    init() throws {
        server = try TestServer()
        other = try TestServer()
        for server in [server, other] {
            server.route("*", "/end") { request in .text("\(request.method) \(request.bodyText)") }
        }
    }

    private func adding(_ name: String, _ value: String) -> AdaptingInterceptor {
        AdaptingInterceptor { request, _ in
            var request = request
            request.addValue(value, forHTTPHeaderField: name)
            return request
        }
    }

    // MARK: - What they may do

    @Test func `adapters run in order, those of the request before those of the session`() async throws {
        let session = URLSession.loopback { $0.requestInterceptors = [adding("X-Way", "3"), adding("X-Way", "4")] }
        var request = URLRequest("GET", server.url("/end"), fields: ["X-Way": "0"])
        request.requestInterceptors = [adding("X-Way", "1"), adding("X-Way", "2")]

        #expect(try await session.outcome(of: request).status == 200)

        #expect(server.requests.first?.headers["X-Way"] == "0,1,2,3,4")
    }

    @Test func `a task shows what was made of its request, and what it was`() async throws {
        let session = URLSession.loopback { $0.requestInterceptors = [adding("X-Mine", "1")] }
        let outcomes = Outcomes()
        let task = session.dataTask(with: URLRequest(url: server.url("/end")), completionHandler: outcomes.handler)
        task.resume()
        _ = try await outcomes.first()

        #expect(task.currentRequest?.value(forHTTPHeaderField: "X-Mine") == "1")
        #expect(task.originalRequest?.value(forHTTPHeaderField: "X-Mine") == nil)
    }

    @Test func `everything of a request may be changed`() async throws {
        let end = server.url("/end")
        let session = URLSession.loopback {
            $0.requestInterceptors = [
                AdaptingInterceptor { _, _ in URLRequest("PUT", end, body: Data("other".utf8)) }
            ]
        }
        #expect(try await session.outcome(of: other.url("/nowhere")).text == "PUT other")
        // Also one that could not be sent as it was.
        #expect(try await session.outcome(of: URLRequest("BAD METHOD", other.url("/"))).text == "PUT other")
        let (data, _) = try await session.upload(for: URLRequest("POST", other.url("/")), from: Data("mine".utf8))
        #expect(String(decoding: data, as: UTF8.self) == "PUT other")
        #expect(other.requests.isEmpty)
    }

    @Test func `a body that is not changed stays that of the task`() async throws {
        let session = URLSession.loopback { $0.requestInterceptors = [adding("X-Mine", "1")] }
        let folder = try ScratchFolder()
        let file = try folder.file(Data("from a file".utf8))
        let put = URLRequest("PUT", server.url("/end"))

        let outcomes = Outcomes()
        session.uploadTask(with: put, from: Data("from memory".utf8), completionHandler: outcomes.handler).resume()
        session.uploadTask(with: put, fromFile: file, completionHandler: outcomes.handler).resume()
        var own = put
        own.httpBody = Data("its own".utf8)
        session.dataTask(with: own, completionHandler: outcomes.handler).resume()

        let texts = try await outcomes.wait(for: 3).compactMap(\.text)
        #expect(Set(texts) == ["PUT from memory", "PUT from a file", "PUT its own"])
        #expect(server.requests.allSatisfy { $0.headers["X-Mine"] == "1" })
    }

    @Test func `what an adapter throws is the error of the task, and nothing is sent`() async throws {
        struct Mine: Error {}
        let session = URLSession.loopback { $0.requestInterceptors = [AdaptingInterceptor { _, _ in throw Mine() }] }
        await #expect(throws: Mine.self) { _ = try await session.data(from: server.url("/end")) }
        let cancelling = URLSession.loopback {
            $0.requestInterceptors = [AdaptingInterceptor { _, _ in throw CancellationError() }]
        }
        let error = await #expect(throws: URLError.self) { _ = try await cancelling.data(from: server.url("/end")) }
        #expect(error?.code == .cancelled)
        #expect(server.requests.isEmpty)
    }

    @Test func `a request of an adapter that may not be sent is refused`() async throws {
        let session = URLSession.loopback {
            $0.requestInterceptors = [
                AdaptingInterceptor { request, _ in
                    var request = request
                    request.setValue("a\r\nX-Smuggled: 1", forHTTPHeaderField: "X-Mine")
                    return request
                }
            ]
        }
        let outcome = try await session.outcome(of: server.url("/end"))
        #expect(outcome.error?.code == .badURL && outcome.reason == .request)
        #expect(server.requests.isEmpty)
    }

    @Test func `no adapter leads to a file`() async throws {
        let folder = try ScratchFolder()
        let file = try folder.file(Data("secret".utf8))
        let session = URLSession.loopback {
            $0.requestInterceptors = [AdaptingInterceptor { _, _ in URLRequest(url: file) }]
        }
        let outcome = try await session.outcome(of: server.url("/end"))
        #expect(outcome.error?.code == .unsupportedURL && outcome.data?.isEmpty != false)
    }

    @Test func `a request that skips those of the session has only its own`() async throws {
        let session = URLSession.loopback { $0.requestInterceptors = [adding("X-Way", "session")] }
        var request = URLRequest(url: server.url("/end"))
        request.skipsSessionInterceptors = true
        _ = try await session.outcome(of: request)
        request.requestInterceptors = [adding("X-Way", "own")]
        _ = try await session.outcome(of: request)

        #expect(server.requests.map { $0.headers["X-Way"] } == [nil, "own"])
        #expect(request.skipsSessionInterceptors && request.requestInterceptors.count == 1)
    }

    @Test func `all kinds of tasks are adapted`() async throws {
        let session = URLSession.loopback { $0.requestInterceptors = [adding("X-Mine", "1")] }
        let url = server.url("/end")

        _ = try await session.data(from: url)
        let (file, _) = try await session.download(from: url)
        try? FileManager.default.removeItem(at: file)
        let (bytes, _) = try await session.bytes(from: url)
        for try await _ in bytes {}
        let log = EventLog()
        let delegated = URLSession.loopback(delegate: log) { $0.requestInterceptors = [adding("X-Mine", "1")] }
        delegated.dataTask(with: url).resume()
        try await log.finished()

        #expect(server.requests.map { $0.headers["X-Mine"] } == ["1", "1", "1", "1"])
    }

    @Test func `T-RTY-15 interceptors run neither on the network thread nor on the delegate queue`() async throws {
        let names = Lock<[String]>([])
        struct Watcher: TaskInterceptor {
            let names: Lock<[String]>

            func adapt(_ request: URLRequest, for task: URLSessionTask) async throws -> URLRequest {
                note()
                return request
            }

            func retry(after attempt: FailedAttempt) async -> RetryDecision {
                note()
                return .giveUp
            }

            private func note() {
                let isOnLoop = NetworkThread.loop.isOnLoop
                names.withLock { $0.append(isOnLoop ? "network" : OperationQueue.current?.name ?? "") }
            }
        }
        server.route("GET", "/busy", ServerReply.status(503))
        let session = URLSession.loopback {
            $0.requestInterceptors = [Watcher(names: names)]
            $0.callsBackOnNetworkThread = true
        }

        #expect(try await session.outcome(of: server.url("/busy")).status == 503)

        let heard = names.withLock { $0 }
        #expect(heard.count == 2 && !heard.contains("network") && !heard.contains("AFURLSession.delegate"))
    }

    // MARK: - Redirects

    @Test func `T-RTY-10 fields of adapters stay in their origin, whatever their names, in each attempt`() async throws
    {
        server.route("GET", "/away", ServerReply.status(302).header("Location", other.url("/busy").absoluteString))
        let count = Lock(0)
        other.route("GET", "/busy") { _ in
            count.withLock { $0 += 1 }
            return count.withLock { $0 } < 3 ? .status(503) : .text("done")
        }
        let adaptions = Lock(0)
        let session = URLSession.loopback {
            $0.requestInterceptors = [
                AdaptingInterceptor { request, _ in
                    adaptions.withLock { $0 += 1 }
                    var request = request
                    request.setValue("Bearer canary", forHTTPHeaderField: "Authorization")
                    request.setValue("canary", forHTTPHeaderField: "X-Odd-Secret")
                    return request
                },
                RetryingInterceptor { _ in .retry },
            ]
        }

        let outcome = try await session.outcome(of: URLRequest("GET", server.url("/away"), fields: ["X-Free": "1"]))

        #expect(outcome.text == "done")
        #expect(server.requests.first?.headers["X-Odd-Secret"] == "canary")
        #expect(other.requests.count == 3)
        #expect(other.requests.allSatisfy { $0.headers["X-Odd-Secret"] == nil && $0.headers["Authorization"] == nil })
        #expect(other.requests.allSatisfy { $0.headers["X-Free"] == "1" })
        #expect(adaptions.withLock { $0 } == 1)
    }

    @Test func `T-RTY-10 within the origin a redirect takes it along, and each attempt has its own`() async throws {
        server.route("GET", "/away", ServerReply.status(302).header("Location", "/busy"))
        server.route("GET", "/busy") { request in
            request.headers["X-Count"] == "2" ? .text("done") : .status(503)
        }
        let adaptions = Lock(0)
        let session = URLSession.loopback {
            $0.requestInterceptors = [
                AdaptingInterceptor { request, _ in
                    let count = adaptions.withLock { count in
                        count += 1
                        return count
                    }
                    var request = request
                    request.setValue("\(count)", forHTTPHeaderField: "X-Count")
                    return request
                },
                RetryingInterceptor { _ in .retry },
            ]
        }

        #expect(try await session.outcome(of: server.url("/away")).text == "done")

        #expect(server.requests.map(\.path) == ["/away", "/busy", "/busy"])
        #expect(server.requests.map { $0.headers["X-Count"] } == ["1", "1", "2"])
    }

    @Test func `each attempt is adapted from the request as its owner made it`() async throws {
        let session = URLSession.loopback {
            $0.requestInterceptors = [adding("X-Way", "1"), RetryingInterceptor { $0.number < 3 ? .retry : .giveUp }]
        }
        server.route("GET", "/busy", ServerReply.status(500))

        #expect(try await session.outcome(of: server.url("/busy")).status == 500)

        #expect(server.requests.map { $0.headers["X-Way"] } == ["1", "1", "1"])
    }
}
