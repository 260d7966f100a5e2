public import Foundation

extension URLSession {
    /// Loads `url`, as ``data(for:delegate:)`` does.
    ///
    /// - Parameters:
    ///   - url: The URL to load.
    ///   - delegate: Hears about this task in place of the session's delegate, where it has the method: of challenges,
    ///   redirects, upload progress and metrics. The response, the body and the completion are what this method
    ///   returns: the delegate does not hear of them, and the session does not call a ``URLSessionDataDelegate`` with
    ///   the data either.
    public func data(from url: URL, delegate: (any URLSessionTaskDelegate)? = nil) async throws -> (Data, URLResponse) {
        try await data(for: URLRequest(url: url), delegate: delegate)
    }

    /// Loads `request`.
    ///
    /// Cancelling the Swift task cancels the request. The result does not depend on the delegate queue, unless a
    /// delegate takes the metrics of the task, or an interim response: then this returns, or throws, after that method
    /// has returned.
    ///
    /// - Parameters:
    ///   - request: The request to load.
    ///   - delegate: Hears about this task in place of the session's delegate, where it has the method: of challenges,
    ///   redirects, upload progress and metrics. The response, the body and the completion are what this method
    ///   returns: the delegate does not hear of them, and the session does not call a ``URLSessionDataDelegate`` with
    ///   the data either.
    public func data(
        for request: URLRequest,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await answer(delegate: delegate) { makeDataTask(request, isAwaited: true, completion: $0) }
    }

    /// Runs a task and waits for its completion.
    func answer<Body: Sendable>(
        delegate: (any URLSessionTaskDelegate)?,
        of make: (@escaping @Sendable (Body?, URLResponse?, (any Error)?) -> Void) -> URLSessionTask
    ) async throws -> (Body, URLResponse) {
        let answer = AwaitedResult<(Body, URLResponse)>()
        let task = make { body, response, error in
            if let body, let response {
                answer.give(.success((body, response)))
            } else {
                answer.give(.failure(error ?? URLError(.unknown)))
            }
        }
        if let delegate { task.delegate = delegate }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                answer.expect(continuation)
                task.resume()
            }
        } onCancel: {
            task.cancel()
        }
        return try answer.taken()
    }
}
