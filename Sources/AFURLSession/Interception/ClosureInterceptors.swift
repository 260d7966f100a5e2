/// Changes requests with a closure.
///
/// ```swift
/// configuration.requestInterceptors = [
///     AdaptingInterceptor { request, _ in
///         var request = request
///         request.setValue(UUID().uuidString, forHTTPHeaderField: "X-Request-ID")
///         return request
///     }
/// ]
/// ```
public struct AdaptingInterceptor: TaskInterceptor {
    private let body: @Sendable (URLRequest, URLSessionTask) async throws -> URLRequest

    /// - Parameter body: As ``TaskInterceptor/adapt(_:for:)``.
    public init(_ body: @escaping @Sendable (URLRequest, URLSessionTask) async throws -> URLRequest) {
        self.body = body
    }

    /// Calls the closure.
    public func adapt(_ request: URLRequest, for task: URLSessionTask) async throws -> URLRequest {
        try await body(request, task)
    }
}

/// Decides with a closure whether the session sends failed requests again.
///
/// ```swift
/// request.requestInterceptors = [
///     RetryingInterceptor { attempt in
///         attempt.status == 409 && attempt.number < 3 ? .retry(after: .seconds(1)) : .giveUp
///     }
/// ]
/// ```
public struct RetryingInterceptor: TaskInterceptor {
    private let body: @Sendable (FailedAttempt) async -> RetryDecision

    /// - Parameter body: As ``TaskInterceptor/retry(after:)``.
    public init(_ body: @escaping @Sendable (FailedAttempt) async -> RetryDecision) {
        self.body = body
    }

    /// Calls the closure.
    public func retry(after attempt: FailedAttempt) async -> RetryDecision {
        await body(attempt)
    }
}

extension RetryingInterceptor: ForeseenInterceptor {
    func foreseen(_ request: URLRequest) -> URLRequest? { request }
}
