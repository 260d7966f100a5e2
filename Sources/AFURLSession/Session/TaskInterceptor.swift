/// Changes requests before the session sends them, and decides whether it sends failed ones again.
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
/// One task stays one task: however often the session sends its request, it has one response, one completion, and one
/// ``URLSessionTask/progress``.
///
/// The session asks the interceptors of ``/AFURLSession/AFURLTypes/URLRequest/requestInterceptors`` first, then those
/// of ``URLSessionConfiguration/requestInterceptors``, each list in its order. It calls all of them away from the
/// network thread and from the delegate queue, in a Swift task that it cancels together with the URL session task. That
/// has the task-local values of the code that first resumed the task, as a tracer's.
/// While they work, `timeoutIntervalForRequest` stands still and `timeoutIntervalForResource` does not.
public protocol TaskInterceptor: Sendable {
    /// Changes a request before the session sends it.
    ///
    /// The session calls this for the first attempt and for each further one, with the request as the task's owner made
    /// it, changed by the interceptors before this one. An error thrown here fails the task, and is its error.
    ///
    /// The session does not call it for redirects: there, the rules of the ``/AFURLTypes/RedirectPolicy`` decide what
    /// goes along. Header fields that an interceptor adds or changes never go to another origin, whatever their names
    /// are. Once a redirect has led to another origin, further attempts go there as the redirect said, without a call
    /// of this method. After a redirect within the origin the session calls it with the request of that redirect, which
    /// already has the fields set here: set fields, do not add values to them.
    ///
    /// - Parameters:
    ///   - request: The request that the session would send. You may change its URL, method, fields and body.
    ///   - task: The task that the session sends it for.
    func adapt(_ request: URLRequest, for task: URLSessionTask) async throws -> URLRequest

    /// Decides what the session does about a failed request.
    ///
    /// The session asks about responses with a status of 400 and above that it has no other answer to (no credential,
    /// no redirect, no cached response), and about failures of the network and of the server or proxy. It does not ask
    /// about what another attempt cannot change: requests that must not be sent, bodies that cannot be read, tasks that
    /// were cancelled or have no time left.
    ///
    /// The first interceptor that does not give up decides.
    func retry(after attempt: FailedAttempt) async -> RetryDecision
}

extension TaskInterceptor {
    /// Changes nothing.
    public func adapt(_ request: URLRequest, for task: URLSessionTask) async throws -> URLRequest { request }

    /// Leaves the decision to the other interceptors.
    public func retry(after attempt: FailedAttempt) async -> RetryDecision { .giveUp }
}

/// An interceptor that limits how often a request is sent, also by the session itself.
protocol AttemptLimit {
    /// How often at most, the first time included.
    var maximumAttempts: Int { get }
}
