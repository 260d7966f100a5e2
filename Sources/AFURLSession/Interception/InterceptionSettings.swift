/// The interceptors of a session.
struct InterceptionSettings: Sendable {
    var interceptors: [any TaskInterceptor] = []
}

/// The interceptors of one request.
struct RequestInterception: Sendable {
    var interceptors: [any TaskInterceptor] = []
    var skipsSession = false
    /// The token interceptor that has this request sent to get a token. It must not make the request wait for that
    /// token.
    var refresher: ObjectIdentifier?

    fileprivate var isUsual: Bool { interceptors.isEmpty && !skipsSession && refresher == nil }
}

/// The same in the space of a reference: nearly every request keeps the defaults.
enum OwnInterception: Sendable {
    case usual
    indirect case own(RequestInterception)

    var value: RequestInterception {
        get { if case .own(let interception) = self { interception } else { RequestInterception() } }
        set { self = newValue.isUsual ? .usual : .own(newValue) }
    }

    /// Whether the request has interceptors of its own.
    var hasInterceptors: Bool {
        if case .own(let interception) = self { !interception.interceptors.isEmpty } else { false }
    }
}

extension URLSessionConfiguration {
    /// The interceptors that change the session's requests before they are sent, and decide about failed ones. Empty by
    /// default, which costs nothing.
    public var requestInterceptors: [any TaskInterceptor] {
        get { self[\.interception.interceptors] }
        set { self[\.interception.interceptors] = newValue }
    }
}

extension URLRequest {
    /// The interceptors of this request, which the session asks before its own. Empty by default.
    public var requestInterceptors: [any TaskInterceptor] {
        get { contents.interception.value.interceptors }
        set { change { $0.interception.value.interceptors = newValue } }
    }

    /// Whether the session leaves its ``URLSessionConfiguration/requestInterceptors`` out for this request. Set it for
    /// a login, say, for which they would otherwise wait. False by default.
    public var skipsSessionInterceptors: Bool {
        get { contents.interception.value.skipsSession }
        set { change { $0.interception.value.skipsSession = newValue } }
    }
}

extension URLSession {
    /// Marks a request that is made during the refresh of a token, so that it does not wait for that token.
    func marked(_ request: URLRequest) -> URLRequest {
        guard !settings.interception.interceptors.isEmpty, let refresher = TokenInterceptor.refresher else {
            return request
        }
        var request = request
        request.change { $0.interception.value.refresher = refresher }
        return request
    }
}

extension URLSessionTask {
    /// The interceptors of the task's requests, in the order in which the session asks them.
    func interceptors(of session: SessionCore) -> [any TaskInterceptor] {
        let own = originalRequest?.contents.interception.value ?? RequestInterception()
        let all = own.interceptors + (own.skipsSession ? [] : session.interceptors)
        guard let refresher = own.refresher else { return all }
        return all.filter { ($0 as? TokenInterceptor).map(ObjectIdentifier.init) != refresher }
    }
}
