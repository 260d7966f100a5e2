import AFBase

@testable import AFNetworking

/// Passwords of URLs do not appear in errors and descriptions.
@Suite struct URLPasswordTests {
    private static let url = URL(string: "https://user:secret@example.com/")

    private func text(_ error: (any Error)?) throws -> String {
        let error = try #require(error as NSError?)
        #expect(error.userInfo[NSURLErrorFailingURLErrorKey] is URL)
        return "\(error) \(error.userInfo)"
    }

    @Test func `T-TLS-83 an operation that was cancelled tells no password`() async throws {
        let operation = URLConnectionOperation(request: URLRequest(url: try #require(Self.url)))
        operation.cancel()
        operation.start()
        try await operation.ended()
        #expect(try !text(operation.error).contains("secret"))
    }

    @Test func `T-TLS-83 an operation whose body is too long tells no password`() async throws {
        let server = try TestServer()
        server.route("GET", "/hello", .text("hello"))
        var parts = try #require(URLComponents(url: server.url("/hello"), resolvingAgainstBaseURL: false))
        (parts.user, parts.password) = ("user", "secret")
        let operation = URLConnectionOperation(request: URLRequest(url: try #require(parts.url)))
        operation.state.withLock { $0.world.maximumBodyInMemory = 4 }
        operation.start()
        try await operation.ended()
        #expect(operation.error?.urlCode == NSURLErrorDataLengthExceedsMaximum)
        #expect(try !text(operation.error).contains("secret"))
    }

    @Test func `T-TLS-83 managers describe themselves without a password`() throws {
        let manager = HTTPSessionManager(baseURL: Self.url)
        defer { manager.invalidateSessionCancelingTasks(true, resetSession: false) }
        let texts = [
            manager.description, HTTPRequestOperationManager(baseURL: Self.url).description,
            InvalidSecurityPolicy(baseURL: Self.url).description,
        ]
        for text in texts { #expect(text.contains("example.com") && !text.contains("secret"), "\(text)") }
    }
}
