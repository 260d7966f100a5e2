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
