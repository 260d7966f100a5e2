import AFBase
import AFLoop
import AFURLSession
import Foundation
import Testing

/// Runs what the article "Retrying and adapting requests" shows.
@Suite struct RetryingArticleTests {
    @Test func `policies, keys and retriers do what they say`() async throws {
        let server = try TestServer()
        server.route("POST", "/orders", .text("made"))
        let count = Lock(0)
        server.route("GET", "/orders") { _ in
            count.withLock { $0 += 1 }
            return count.withLock { $0 } == 1 ? .status(503) : .text("done")
        }
        let url = server.url("/orders")

        let configuration = URLSessionConfiguration.default
        configuration.requestInterceptors = [RetryRules()]
        let session = URLSession(configuration: configuration)
        let (data, _) = try await session.data(from: url)
        #expect(String(decoding: data, as: UTF8.self) == "done")

        var rules = RetryRules(maximumAttempts: 5)
        rules.baseDelay = .milliseconds(200)
        rules.maximumRetryAfter = .seconds(120)
        configuration.requestInterceptors = [rules]

        var order = URLRequest(url: url)
        order.httpMethod = "POST"
        order.httpBody = Data(#"{"item": 7}"#.utf8)
        order.setValue(UUID().uuidString, forHTTPHeaderField: "Idempotency-Key")
        #expect(FailedAttempt(order).isIdempotent)
        order.requestInterceptors = [RetryRules(maximumAttempts: 1)]
        let (made, _) = try await session.data(for: order)
        #expect(String(decoding: made, as: UTF8.self) == "made")

        let polling = RetryingInterceptor { attempt in
            guard attempt.status == 404, attempt.elapsed < .seconds(60) else { return .giveUp }
            return .retry(after: .seconds(2))
        }
        var report = URLRequest(url: url)
        report.requestInterceptors = [polling]
        let missing = HTTPURLResponse(url: url, statusCode: 404, httpVersion: nil, headerFields: nil)
        guard case .retry(let wait) = await polling.retry(after: FailedAttempt(report, response: missing)) else {
            Issue.record("it gives up")
            return
        }
        #expect(wait == .seconds(2))
    }

    @Test func `adapters and tokens do what they say`() async throws {
        let server = try TestServer()
        server.route("GET", "/", .text("fine"))
        let url = server.url("/")
        @Sendable func signature(of request: URLRequest) async throws -> String { "signed" }
        @Sendable func newToken(inPlaceOf old: String?) async throws -> String { "token" }

        let signing = AdaptingInterceptor { request, task in
            var request = request
            request.setValue(try await signature(of: request), forHTTPHeaderField: "X-Signature")
            return request
        }
        let configuration = URLSessionConfiguration.ephemeral
        let tokens = try TokenInterceptor(for: [URL(string: "https://api.example.com")!]) { old in
            try await newToken(inPlaceOf: old)
        }
        configuration.requestInterceptors = [tokens, RetryRules()]
        var login = URLRequest(url: url)
        login.skipsSessionInterceptors = true
        login.requestInterceptors = [signing]
        _ = try await URLSession(configuration: configuration).data(for: login)

        #expect(server.requests.first?.headers["X-Signature"] == "signed")
        #expect(server.requests.first?.headers["Authorization"] == nil)
    }
}
