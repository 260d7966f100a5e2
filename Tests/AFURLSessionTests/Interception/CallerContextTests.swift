@testable import AFURLSession

/// What a tracer keeps for the code that runs now.
private enum Trace {
    @TaskLocal static var span: String?
    @TaskLocal static var object: Marker?
}

private final class Marker: Sendable {}

/// Puts the span of the code that resumed the task into a field, and notes it when the task fails.
private final class Tracer: TaskInterceptor {
    let failed = Lock<[String?]>([])

    func adapt(_ request: URLRequest, for task: URLSessionTask) async throws -> URLRequest {
        var request = request
        request.setValue(Trace.span ?? "none", forHTTPHeaderField: "X-Span")
        return request
    }

    func retry(after attempt: FailedAttempt) async -> RetryDecision {
        failed.withLock { $0.append(Trace.span) }
        return attempt.number == 1 ? .retry(after: .zero) : .giveUp
    }
}

@Suite("The context of the code that resumes a task")
struct CallerContextTests {
    private let server: TestServer
    private let tracer = Tracer()
    private let session: URLSession

    init() throws {
        server = try TestServer()
        server.route("GET", "/hello", .text("hello"))
        server.route("GET", "/busy", .status(503))
        session = URLSession.loopback { [tracer] in $0.requestInterceptors = [tracer] }
    }

    private var spans: [String?] { server.requests.map { $0.headers["X-Span"] } }

    @Test func `interceptors have the task-local values of the caller, whatever the way of calling`() async throws {
        let request = URLRequest(url: server.url("/hello"))
        try await Trace.$span.withValue("awaited") { _ = try await session.data(for: request) }
        let outcomes = Outcomes()
        let made = Trace.$span.withValue("made") {
            session.dataTask(with: request, completionHandler: outcomes.handler)
        }
        Trace.$span.withValue("resumed") { made.resume() }
        _ = try await outcomes.first()
        _ = try await session.data(for: request)

        #expect(spans == ["awaited", "resumed", "none"])
    }

    @Test func `an interceptor of a single request has them, and each attempt`() async throws {
        var request = URLRequest(url: server.url("/busy"))
        request.requestInterceptors = [tracer]
        request.skipsSessionInterceptors = true

        try await Trace.$span.withValue("caller") { _ = try await session.data(for: request) }

        #expect(spans == ["caller", "caller"])
        #expect(tracer.failed.withLock { $0 } == ["caller", "caller"])
    }

    @Test func `the values are released with the task, whether it was loaded or not`() async throws {
        weak var marker: Marker?
        do {
            let made = Marker()
            marker = made
            try await Trace.$object.withValue(made) {
                _ = try await session.data(for: URLRequest(url: server.url("/hello")))
                let task = session.dataTask(with: URLRequest(url: server.url("/hello")))
                task.resume()
                task.cancel()
            }
        }
        try await eventually("the end of the values") { marker == nil }
    }

    @Test func `work that is cancelled before it begins does not begin`() async throws {
        let context = CallerContext(preferring: nil)
        let begun = Lock(0)
        for _ in 0..<200 {
            context.start { if !Task.isCancelled { begun.withLock { $0 += 1 } } }.cancel()
        }
        await withCheckedContinuation { continuation in
            _ = context.start { continuation.resume() }
        }
        // Some may have begun before they were cancelled.
        #expect(begun.withLock { $0 } < 200)
    }
}
