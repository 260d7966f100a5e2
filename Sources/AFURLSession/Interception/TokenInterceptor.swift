import AFBase
import AFLoop
import AFWire
public import Foundation

/// Puts a token on the requests for some origins, and gets a new one when a server refuses it.
///
/// ```swift
/// let tokens = try TokenInterceptor(for: [URL(string: "https://api.example.com")!]) { old in
///     var request = URLRequest(url: URL(string: "https://login.example.com/token")!)
///     request.httpMethod = "POST"
///     let (data, _) = try await session.data(for: request)
///     return String(decoding: data, as: UTF8.self)
/// }
/// configuration.requestInterceptors = [tokens]
/// ```
///
/// - The token goes only to the origins you name (scheme, host and port), and no redirect takes it elsewhere. A request
///   that already has a field of that name keeps it, and its 401 is the task's response.
/// - After a 401 the interceptor gets a new token, once for all tasks that wait for it, and the session sends each of
///   their requests once more. A request that was refused with an older token than the present one goes out again
///   without another refresh.
/// - If a refresh fails, all tasks that waited for it fail with its error. The next 401 tries again.
/// - A task that is cancelled stops waiting; the refresh goes on for the others.
///
/// The refresh may use the same session: tasks made in it, or in Swift tasks it makes that are not detached, do not
/// wait for the token and do not get one. For a task that you make elsewhere set
/// ``/AFURLSession/AFURLTypes/URLRequest/skipsSessionInterceptors``.
public final class TokenInterceptor: TaskInterceptor {
    /// Gets a new token in place of `old`, which a server refused: nil if there was none yet.
    public typealias Refresh = @Sendable (_ old: String?) async throws -> String

    fileprivate struct State {
        var token: String?
        /// The tokens before it, the latest last. A request that has one of them got it from this interceptor.
        var former: [String] = []
        /// The present refresh, if there is one.
        var refresh: SharedRefresh?
    }

    /// How many former tokens the interceptor remembers.
    fileprivate static let memory = 16

    private let origins: Set<Endpoint>
    private let field: String
    private let scheme: String?
    private let refresh: Refresh
    private let executor: (any TaskExecutor)?
    private let state: Lock<State>

    /// - Parameters:
    ///   - origins: URLs of the origins that may have the token; of each, scheme, host and port count.
    ///   - token: The present token. Without one, the first request waits for a refresh.
    ///   - field: The header field that holds the token. `Authorization`.
    ///   - scheme: The word before the token. `Bearer`; nil means none.
    ///   - refresh: Gets a new token.
    /// - Throws: `URLError.badURL` or `.unsupportedURL` if one of the URLs names no origin.
    public convenience init(
        for origins: [URL],
        token: String? = nil,
        field: String = "Authorization",
        scheme: String? = "Bearer",
        refresh: @escaping Refresh
    ) throws {
        try self.init(for: origins, token: token, field: field, scheme: scheme, on: nil, refresh: refresh)
    }

    /// - Parameter executor: Where the refresh runs.
    package init(
        for origins: [URL],
        token: String? = nil,
        field: String = "Authorization",
        scheme: String? = "Bearer",
        on executor: (any TaskExecutor)?,
        refresh: @escaping Refresh
    ) throws {
        self.origins = Set(try origins.map(TokenInterceptor.endpoint))
        self.field = field
        self.scheme = scheme
        self.executor = executor
        self.refresh = refresh
        state = Lock(State(token: token))
    }

    private static func endpoint(of url: URL) throws -> Endpoint {
        do throws(RequestRejection) {
            return try RequestURL(url.absoluteString).endpoint
        } catch {
            throw LoadError.rejected(error).urlError(for: url)
        }
    }

    /// The present token. Set it after a login, or to nil after a logout: this overrides a refresh that is under way.
    /// Without a token, tasks that wait for that refresh fail with `URLError.userAuthenticationRequired`.
    public var token: String? {
        get { state.withLock { $0.token } }
        set { state.withLock { $0.replace(with: newValue) } }
    }

    /// How many tasks wait for the present refresh.
    var waiting: Int { state.withLock { $0.refresh }?.waiting ?? 0 }

    // MARK: - TaskInterceptor

    /// Puts the token on requests that may have it.
    public func adapt(_ request: URLRequest, for task: URLSessionTask) async throws -> URLRequest {
        guard isMeant(request) else { return request }
        if let value = request.value(forHTTPHeaderField: field), !isOurs(value) { return request }
        let present = token
        let token = if let present { present } else { try await refreshed(after: nil, for: request) }
        var request = request
        request.setValue(value(of: token), forHTTPHeaderField: field)
        return request
    }

    /// Nil without a token, since the request would wait for one.
    func foreseen(_ request: URLRequest) -> URLRequest? {
        guard isMeant(request) else { return request }
        if let value = request.value(forHTTPHeaderField: field), !isOurs(value) { return request }
        guard let token else { return nil }
        var request = request
        request.setValue(value(of: token), forHTTPHeaderField: field)
        return request
    }

    /// After a 401, sends the request once more as soon as there is another token.
    public func retry(after attempt: FailedAttempt) async -> RetryDecision {
        guard attempt.error == nil, attempt.status == 401, isMeant(attempt.request),
            let sent = attempt.request.value(forHTTPHeaderField: field).flatMap(tokenOfOurs),
            !attempt.earlierStatuses.contains(401)
        else { return .giveUp }
        do {
            _ = try await refreshed(after: sent, for: attempt.request)
            return .retry
        } catch {
            return .fail(error)
        }
    }

    private func isMeant(_ request: URLRequest) -> Bool {
        guard let endpoint = request.target?.endpoint else { return false }
        return origins.contains(endpoint)
    }

    // MARK: - Tokens

    private func value(of token: String) -> String { scheme.map { "\($0) \(token)" } ?? token }

    private func isOurs(_ value: String) -> Bool { tokenOfOurs(value) != nil }

    /// The token in a field's value, if this interceptor put it there.
    private func tokenOfOurs(_ value: String) -> String? {
        let known = state.withLock { state in state.former + [state.token].compactMap(\.self) }
        return known.last { self.value(of: $0) == value }
    }

    /// A token other than `refused`, which may be there already.
    private func refreshed(after refused: String?, for request: URLRequest) async throws -> String {
        let (present, shared, isFirst) = state.withLock { state -> (String?, SharedRefresh?, Bool) in
            if let token = state.token, token != refused { return (token, nil, false) }
            if let refresh = state.refresh { return (nil, refresh, false) }
            let refresh = SharedRefresh()
            state.refresh = refresh
            return (nil, refresh, true)
        }
        if let present { return present }
        guard let shared else { throw CancellationError() }
        if isFirst { begin(shared, after: refused) }
        try await shared.end()
        // The program may have set another token meanwhile, or removed it.
        guard let token else { throw ClientFailure.loggedOut.urlError(for: request.url) }
        return token
    }

    /// Runs the refresh outside the callers' Swift tasks: their cancellation does not end it.
    private func begin(_ shared: SharedRefresh, after refused: String?) {
        Task.detached(executorPreference: executor) { [self] in
            do {
                let made = try await TokenRefresh.$refresher.withValue(ObjectIdentifier(self)) {
                    try await refresh(refused)
                }
                ended(shared, token: made)
                shared.end(nil)
            } catch {
                ended(shared, token: nil)
                shared.end(error)
            }
        }
    }

    private func ended(_ shared: SharedRefresh, token: String?) {
        state.withLock { state in
            // The program may have set a token meanwhile.
            guard state.refresh === shared else { return }
            state.refresh = nil
            if let token { state.replace(with: token) }
        }
    }
}

extension TokenInterceptor: ForeseenInterceptor {}

extension TokenInterceptor.State {
    fileprivate mutating func replace(with token: String?) {
        if let former = self.token, former != token {
            self.former.removeAll { $0 == former }
            self.former = Array((self.former + [former]).suffix(TokenInterceptor.memory))
        }
        self.token = token
        refresh = nil
    }
}
