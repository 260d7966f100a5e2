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
