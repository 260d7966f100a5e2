extension LoopbackTests {
    /// Delegates whose methods answer as `async` methods, in Apple's shapes.
    struct AsyncDelegates {
        private let server: TestServer
        private let delegate = Answering()

        init() throws {
            server = try TestServer()
            server.route("GET", "/hello", .text("hello"))
            server.route("GET", "/go", ServerReply.status(302).header("Location", "/hello"))
            server.route("GET", "/kept", .text("kept").header("Cache-Control", "max-age=60"))
            server.install(.echo)
        }

        @Test(arguments: [false, true])
        func `a redirect waits for the answer, and is called on the delegate queue`(isTasksOwn: Bool) async throws {
            let (delegate, queue) = (Answering(), OperationQueue())
            queue.name = "the delegate's"
            let session = URLSession.loopback(delegate: isTasksOwn ? EventLog() : delegate, queue: queue)

            for count in 1...2 {
                let outcomes = Outcomes()
                let task = session.dataTask(with: server.url("/go"), completionHandler: outcomes.handler)
                if isTasksOwn { task.delegate = delegate }
                task.resume()
                #expect(try await outcomes.first().status == 302)
                #expect(delegate.heard.value == Array(repeating: "redirect on the delegate's", count: count))
            }
        }

        @Test func `responses are judged, and changed for the cache`() async throws {
            let session = URLSession.loopback(delegate: delegate)

            session.dataTask(with: server.url("/hello")).resume()
            try await delegate.heard.wait("a refusal") { $0.contains("completed -999") }
            #expect(delegate.heard.value == ["response", "completed -999"])

            session.dataTask(with: server.url("/kept")).resume()
            try await delegate.heard.wait("the cache") { $0.contains("cache") && $0.contains("completed 0") }
            let request = URLRequest(url: server.url("/kept"))
            try await eventually {
                session.configuration.urlCache?.cachedResponse(for: request)?.data == Data("changed".utf8)
            }
        }

        @Test func `a stream for a body comes from the method`() async throws {
            let session = URLSession.loopback(delegate: delegate)
            server.route("POST", "/taken") { .text("took \($0.body.count)") }

            session.uploadTask(withStreamedRequest: URLRequest("POST", server.url("/taken"))).resume()

            try await delegate.heard.wait("the end") { $0.contains("completed 0") }
            #expect(server.requests.map(\.body) == [Data("from the method".utf8)])
        }

        @Test func `a task that begins later sends what the method says`() async throws {
            let session = URLSession.loopback(delegate: delegate)
            let task = session.dataTask(with: server.url("/missing"))
            task.earliestBeginDate = Date(timeIntervalSinceNow: 0.05)

            task.resume()

            try await delegate.heard.wait("the end") { $0.contains { $0.hasPrefix("completed") } }
            #expect(server.requests.map(\.target) == ["/hello"])
        }

        enum Level: CaseIterable { case session, task }

        @Test(arguments: Level.allCases)
        func `T-TLS-84 a server is judged by the method`(level: Level) async throws {
            let site = try SecuredSite()
            let delegate: any URLSessionDelegate = level == .session ? SessionJudge() : TaskJudge()

            let outcome = try await site.session(delegate: delegate).outcome(of: site.server.url("/hello"))

            #expect(outcome.code == -999 && site.server.requests.isEmpty)
        }

        @Test func `T-TLS-84 the task's delegate judges in place of the session's`() async throws {
            let site = try SecuredSite()
            let session = site.session(delegate: TaskTrustDelegate())
            #expect(try await session.outcome(of: site.server.url("/hello")).text == "hello")

            let error = await #expect(throws: URLError.self) {
                try await session.data(from: site.server.url("/hello"), delegate: TaskJudge())
            }

            #expect(error?.code == .cancelled && site.server.requests.count == 1)
        }
    }
}

private final class Answering: URLSessionDataDelegate {
    let heard = Watched<[String]>([])

    private func note(_ text: String) { heard.change { $0.append(text) } }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        let name = Answering.queueName
        await Task.yield()
        note("redirect on \(name)")
        return nil
    }

    private static var queueName: String { OperationQueue.current?.name ?? "none" }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition {
        await Task.yield()
        note("response")
        return response.url?.path == "/hello" ? .cancel : .allow
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse? {
        await Task.yield()
        note("cache")
        return CachedURLResponse(response: proposedResponse.response, data: Data("changed".utf8))
    }

    func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream? {
        await Task.yield()
        return InputStream(data: Data("from the method".utf8))
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willBeginDelayedRequest request: URLRequest
    ) async -> (URLSession.DelayedRequestDisposition, URLRequest?) {
        await Task.yield()
        return (
            .useNewRequest, request.url.map { URLRequest(url: $0.deletingLastPathComponent().appending(path: "hello")) }
        )
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        note("completed \((error as? URLError)?.code.rawValue ?? 0)")
    }
}

private final class SessionJudge: URLSessionDelegate {
    func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        await Task.yield()
        return (.cancelAuthenticationChallenge, nil)
    }
}

private final class TaskJudge: URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        await Task.yield()
        return (.cancelAuthenticationChallenge, nil)
    }
}
