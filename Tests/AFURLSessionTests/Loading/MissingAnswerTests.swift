@testable import AFURLSession

/// Delegates and interceptors that never answer.
@Suite("Questions without an answer")
struct MissingAnswerTests {
    /// Keeps what it would have to call.
    private final class Silent: NSObject, URLSessionDataDelegate {
        private let kept = Heard<any Sendable>()

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            kept.add(completionHandler)
        }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            kept.add(completionHandler)
        }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {
            kept.add(completionHandler)
        }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            willBeginDelayedRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
        ) {
            kept.add(completionHandler)
        }

        func urlSession(
            _ session: URLSession,
            dataTask: URLSessionDataTask,
            didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            if response.url?.path == "/cached" { return completionHandler(.allow) }
            kept.add(completionHandler)
        }

        func urlSession(
            _ session: URLSession,
            dataTask: URLSessionDataTask,
            willCacheResponse proposedResponse: CachedURLResponse,
            completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
        ) {
            kept.add(completionHandler)
        }
    }

    private struct Stuck: TaskInterceptor {
        func adapt(_ request: URLRequest, for task: URLSessionTask) async throws -> URLRequest {
            try? await Task.sleep(for: .seconds(600))
            return request
        }
    }

    enum Question: String, CaseIterable {
        case redirect = "urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:)"
        case challenge = "urlSession(_:task:didReceive:completionHandler:)"
        case stream = "urlSession(_:task:needNewBodyStream:)"
        case delayed = "urlSession(_:task:willBeginDelayedRequest:completionHandler:)"
        case response = "urlSession(_:dataTask:didReceive:completionHandler:)"
        case caching = "urlSession(_:dataTask:willCacheResponse:completionHandler:)"
        case adapter = "adapt(_:for:)"
    }

    private let server: TestServer

    init() throws {
        server = try TestServer()
        server.route("GET", "/hello", .text("hello"))
        server.route("POST", "/hello", .text("hello"))
        server.route("GET", "/cached", ServerReply.text("hello").header("Cache-Control", "max-age=60"))
        server.route("GET", "/moved", ServerReply.status(302).header("Location", "/hello"))
        server.route("GET", "/closed", ServerReply.status(401).header("WWW-Authenticate", "Basic realm=\"a\""))
    }

    private func task(_ question: Question, in session: URLSession) -> URLSessionTask {
        func request(_ path: String) -> URLRequest {
            var request = URLRequest(url: server.url(path))
            request.timeoutIntervalForResource = 0.3
            return request
        }
        switch question {
        case .redirect: return session.dataTask(with: request("/moved"))
        case .challenge: return session.dataTask(with: request("/closed"))
        case .stream:
            var request = request("/hello")
            request.httpMethod = "POST"
            return session.uploadTask(withStreamedRequest: request)
        case .delayed:
            let task = session.dataTask(with: request("/hello"))
            task.earliestBeginDate = Date(timeIntervalSinceNow: 0.01)
            return task
        case .response: return session.dataTask(with: request("/hello"))
        case .caching: return session.dataTask(with: request("/cached"))
        case .adapter:
            var request = request("/hello")
            request.requestInterceptors = [Stuck()]
            return session.dataTask(with: request)
        }
    }

    @Test(arguments: Question.allCases)
    func `a question that is never answered ends in an error that names it`(_ question: Question) async throws {
        let session = URLSession.loopback(delegate: Silent())
        defer { session.invalidateAndCancel() }

        let task = task(question, in: session)
        task.resume()
        try await eventually { task.state == .completed }

        let error = try #require(task.error as? URLError)
        let failure = try #require(error.loadFailure)
        #expect(error.code == .timedOut && failure.reason == .timeout && failure.detail == .unanswered)
        #expect(failure.message.contains(question.rawValue), "\(failure)")
        #expect(failure.advice?.contains("timeout") == false, "\(failure)")
    }

    @Test func `once it is answered, a task that runs out of time says so`() async throws {
        server.route("GET", "/slow", ServerReply.text("late").held(until: "never"))
        server.route("GET", "/to-slow", ServerReply.status(302).header("Location", "/slow"))
        let session = URLSession.loopback(delegate: RedirectAnswer { $2($1) })
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: server.url("/to-slow"))
        request.timeoutIntervalForResource = 0.3

        let outcome = try await session.outcome(of: request)

        #expect(outcome.error?.loadFailure?.detail == .resource)
    }

    @Test func `a second answer to a former question is none to the present one`() async throws {
        server.route("GET", "/twice", ServerReply.status(302).header("Location", "/moved"))
        let first = Lock<RedirectAnswer.Completion?>(nil)
        let delegate = RedirectAnswer { _, request, completion in
            if let former = first.withLock({ $0 }) { return former(request) }
            first.withLock { $0 = completion }
            completion(request)
        }
        let session = URLSession.loopback(delegate: delegate)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: server.url("/twice"))
        request.timeoutIntervalForResource = 0.3

        let outcome = try await session.outcome(of: request)

        #expect(outcome.error?.loadFailure?.detail == .unanswered, "\(outcome)")
    }
}
