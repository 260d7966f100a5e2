@testable import AFURLSession
@testable import AFURLTypes

/// Refuses so many requests, then tells what it got.
private func refuse(_ count: Int, on server: TestServer, _ path: String = "/up", status: Int = 503) -> Lock<[Data]> {
    let bodies = Lock<[Data]>([])
    server.route("*", path) { request in
        let number = bodies.withLock { bodies in
            bodies.append(request.body)
            return bodies.count
        }
        return number <= count ? ServerReply.text("busy").status(status) : .text("\(request.body.count)")
    }
    return bodies
}

@Suite("Bodies that are sent again")
struct InterceptedBodyTests {
    private let server: TestServer
    private let content = pattern(300_000)
    private static let twice = RetryingInterceptor { $0.number < 3 ? .retry : .giveUp }

    init() throws {
        server = try TestServer()
    }

    private func session(delegate: (any URLSessionDelegate)? = nil) -> URLSession {
        URLSession.loopback(delegate: delegate) { $0.requestInterceptors = [Self.twice] }
    }

    private var put: URLRequest { URLRequest("PUT", server.url("/up")) }

    @Test func `T-RTY-07 memory and files are sent again as they were`() async throws {
        let folder = try ScratchFolder()
        let file = try folder.file(content)
        var inMemory = put
        inMemory.httpBody = content

        for kind in 0..<3 {
            let bodies = refuse(2, on: server)
            let outcomes = Outcomes()
            let task =
                switch kind {
                case 0: session().dataTask(with: inMemory, completionHandler: outcomes.handler)
                case 1: session().uploadTask(with: put, from: content, completionHandler: outcomes.handler)
                default: session().uploadTask(with: put, fromFile: file, completionHandler: outcomes.handler)
                }
            task.resume()

            #expect(try await outcomes.first().text == "300000")
            #expect(bodies.withLock { $0 } == [content, content, content])
            #expect(task.countOfBytesSent == 300_000 && task.countOfBytesExpectedToSend == 300_000)
        }
    }

    @Test func `T-RTY-07 a stream is asked for again`() async throws {
        let bodies = refuse(1, on: server)
        let source = StreamSource { [content] _ in InputStream(data: content) }
        let outcomes = Outcomes()
        var request = put
        request.httpBodyStream = InputStream(data: content)
        session(delegate: source).dataTask(with: request, completionHandler: outcomes.handler).resume()

        #expect(try await outcomes.first().text == "300000")
        #expect(bodies.withLock { $0 } == [content, content])
        #expect(source.questions.value == 1)
    }

    @Test func `T-RTY-07 a stream without a second copy is not sent again, and the error says so`() async throws {
        let bodies = refuse(1, on: server)
        let canSendAgain = Lock<[Bool]>([])
        let session = URLSession.loopback {
            $0.requestInterceptors = [
                RetryingInterceptor { attempt in
                    canSendAgain.withLock { $0.append(attempt.canSendBodyAgain) }
                    return .retry
                }
            ]
        }
        var request = put
        request.httpBodyStream = InputStream(data: content)
        let refused = try await session.outcome(of: request)

        #expect(refused.status == 503 && refused.text == "busy" && refused.error == nil)
        #expect(bodies.withLock { $0.count } == 1)

        server.route("PUT", "/lost", ServerReply.text("x").closing(after: 0, of: .message))
        request.url = server.url("/lost")
        request.httpBodyStream = InputStream(data: content)
        let lost = try await session.outcome(of: request)

        #expect(lost.error?.code == .networkConnectionLost)
        #expect(lost.error?.loadFailure?.message.contains("needNewBodyStream") == true)
        #expect(canSendAgain.withLock { $0 } == [false, false])
        #expect(server.requests.count == 2)
    }

    @Test func `a delegate that has no other stream ends the task with an error`() async throws {
        _ = refuse(1, on: server)
        let source = StreamSource { _ in nil }
        let outcomes = Outcomes()
        var request = put
        request.httpBodyStream = InputStream(data: content)
        session(delegate: source).dataTask(with: request, completionHandler: outcomes.handler).resume()

        let outcome = try await outcomes.first()
        #expect(outcome.error?.code == .requestBodyStreamExhausted)
        #expect(server.requests.count == 1)
    }

    @Test func `T-RTY-01 a POST is sent again only where no server can have acted on it`() async throws {
        let session = URLSession.loopback { $0.requestInterceptors = [RetryRules()] }
        server.route("POST", "/up", ServerReply.text("x").closing(after: 0, of: .message))
        let post = URLRequest("POST", server.url("/up"), body: Data("once".utf8))

        #expect(try await session.outcome(of: post).error?.code == .networkConnectionLost)
        #expect(server.requests.count == 1)

        let gone = try TestServer()
        let url = gone.url("/up")
        gone.stop()
        let outcome = try await session.outcome(of: URLRequest("POST", url, body: Data("never".utf8)))
        #expect(outcome.error?.code == .cannotConnectToHost)
        #expect(outcome.error?.loadFailure?.message.hasSuffix("The request was sent 3 times.") == true)
    }

    @Test func `an early refusal cuts an upload short, and it is sent again from its start`() async throws {
        let content = pattern(4_000_000)
        let bodies = Lock<[Int]>([])
        server.route("PUT", "/up") { request in
            let number = bodies.withLock { bodies in
                bodies.append(request.bodyByteCount)
                return bodies.count
            }
            return number == 1 ? ServerReply.status(503).withoutReadingBody() : .text("\(request.body == content)")
        }
        var request = put
        request.httpBody = content

        #expect(try await session().outcome(of: request).text == "true")
    }

    // MARK: - What comes back

    @Test func `a download begins anew with a file of its own`() async throws {
        let half = content.prefix(150_000)
        let count = Lock(0)
        server.route("GET", "/down") { [content] _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            switch number {
            case 1: return ServerReply.text("busy").status(503)
            case 2: return ServerReply.data(content).closing(after: half.count)
            default: return .data(content)
            }
        }
        let session = session()

        let (file, response) = try await session.download(from: server.url("/down"))

        #expect(try Data(contentsOf: file) == content)
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        try? FileManager.default.removeItem(at: file)
        #expect(count.withLock { $0 } == 3)
    }

    @Test func `a body that is coded is decoded anew`() async throws {
        let count = Lock(0)
        let text = String(repeating: "coded ", count: 20_000)
        server.route("GET", "/down") { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            let reply = ServerReply.text(text).compressed(.gzip)
            return number == 1 ? reply.closing(after: 100) : reply
        }

        #expect(try await session().outcome(of: server.url("/down")).text == text)
    }

    @Test func `bytes are tried again until their response is there, and not after that`() async throws {
        _ = refuse(1, on: server, "/down")
        let (bytes, response) = try await session().bytes(from: server.url("/down"))
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        var text = ""
        for try await byte in bytes { text.append(Character(UnicodeScalar(byte))) }
        #expect(text == "0")

        server.route("GET", "/cut", ServerReply.text("hello").closing(after: 3))
        let (cut, _) = try await session().bytes(from: server.url("/cut"))
        await #expect(throws: URLError.self) { for try await _ in cut {} }
        #expect(server.requests.count { $0.path == "/cut" } == 1)
    }

    @Test func `a credential is asked for first, and a 401 without a credential goes to interceptors`()
        async throws
    {
        server.install(.authentication)
        let statuses = Lock<[Int?]>([])
        let session = URLSession.loopback {
            $0.requestInterceptors = [
                RetryingInterceptor { attempt in
                    statuses.withLock { $0.append(attempt.status) }
                    return attempt.number == 1 ? .retry : .giveUp
                }
            ]
        }

        let outcome = try await session.outcome(of: server.url("/basic-auth/user/secret"))

        #expect(outcome.status == 401 && outcome.error == nil)
        #expect(statuses.withLock { $0 } == [401, 401])
        #expect(server.requests.count == 2)
    }

    @Test func `interceptors are not asked about what the cache answers`() async throws {
        server.route("GET", "/kept", ServerReply.text("gone").status(410).header("Cache-Control", "max-age=1000"))
        let asked = Lock(0)
        let session = URLSession.loopback {
            $0.requestInterceptors = [
                RetryingInterceptor { _ in
                    asked.withLock { $0 += 1 }
                    return .giveUp
                }
            ]
        }
        for _ in 0..<3 { #expect(try await session.outcome(of: server.url("/kept")).text == "gone") }
        #expect(server.requests.count == 1 && asked.withLock { $0 } == 1)
    }
}
