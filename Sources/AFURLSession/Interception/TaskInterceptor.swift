/// Has a say in requests before they are sent, and in what becomes of them when they have failed.
///
/// ```swift
/// struct Versioned: TaskInterceptor {
///     func adapt(_ request: URLRequest, for task: URLSessionTask) async throws -> URLRequest {
///         var request = request
///         request.setValue("2", forHTTPHeaderField: "X-Api-Version")
///         return request
///     }
/// }
///
/// configuration.requestInterceptors = [Versioned(), RetryRules()]
/// ```
///
/// One task stays one task: whatever is sent again, it has one response, one completion, and one
/// ``URLSessionTask/progress``.
///
/// Those of ``URLRequest/requestInterceptors`` come first, then those of
/// ``URLSessionConfiguration/requestInterceptors``, each list in its order. All are called away from the network thread
/// and from the delegate queue, as part of a Swift task that is cancelled with theirs. While they take their time,
/// `timeoutIntervalForRequest` stands still and `timeoutIntervalForResource` does not.
public protocol TaskInterceptor: Sendable {
    /// Changes a request before it is sent.
    ///
    /// Called for the first attempt and for each further one, with the request as the task's owner made it, changed by
    /// the interceptors before this one. What is thrown fails the task, and is its error.
    ///
    /// It is not called for redirects: there, the rules of the ``RedirectPolicy`` decide what goes along. Header fields
    /// that were added or changed here are kept from other origins, whatever their names are. Once a redirect has led
    /// to another origin, further attempts go there as the redirect said, and this is not called any more. After a
    /// redirect within the origin it is called with the request of that redirect, in which its fields stand already:
    /// set fields rather than adding values to them.
    ///
    /// - Parameters:
    ///   - request: What would be sent. URL, method, fields and body may be changed.
    ///   - task: What it is sent for.
    func adapt(_ request: URLRequest, for task: URLSessionTask) async throws -> URLRequest

    /// Says what becomes of a task whose request has failed.
    ///
    /// Asked about responses with a status of 400 and above that nobody else has an answer to (no credential, no
    /// redirect, not the cache), and about failures of the network and of whoever is at its other end. Not about what
    /// another attempt cannot change: requests that may not be sent, bodies that cannot be read, tasks that were
    /// cancelled or have no time left.
    ///
    /// The first interceptor that does not give up decides.
    func retry(after attempt: FailedAttempt) async -> RetryDecision
}

extension TaskInterceptor {
    /// Changes nothing.
    public func adapt(_ request: URLRequest, for task: URLSessionTask) async throws -> URLRequest { request }

    /// Leaves it to others.
    public func retry(after attempt: FailedAttempt) async -> RetryDecision { .giveUp }
}

/// What becomes of a task whose request has failed.
public enum RetryDecision: Sendable {
    /// Nothing is sent by this interceptor's wish. If all say so, the response or error is the task's.
    case giveUp
    /// The request is sent again after this long; not before that, whatever happens.
    ///
    /// If its body cannot be sent again, if the wait would take longer than the task may, or after a hundred attempts,
    /// the response or error is the task's, and an error says why that was so.
    case retry(after: Duration)
    /// The task fails with this error.
    case fail(any Error)

    /// The request is sent again at once.
    public static var retry: RetryDecision { .retry(after: .zero) }
}
