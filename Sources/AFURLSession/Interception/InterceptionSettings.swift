/// Who has a say in the requests of a session.
struct InterceptionSettings: Sendable {
    var interceptors: [any TaskInterceptor] = []
}

/// Who has a say in one request.
struct RequestInterception: Sendable {
    var interceptors: [any TaskInterceptor] = []
    var skipsSession = false
    /// Who has sent it to get a token, and so must not wait for it.
    var refresher: ObjectIdentifier?

    fileprivate var isUsual: Bool { interceptors.isEmpty && !skipsSession && refresher == nil }
}

/// The same in the room of a reference: nearly every request leaves it at the usual.
enum OwnInterception: Sendable {
    case usual
    indirect case own(RequestInterception)

    var value: RequestInterception {
        get { if case .own(let interception) = self { interception } else { RequestInterception() } }
        set { self = newValue.isUsual ? .usual : .own(newValue) }
    }

    /// Whether the request brings somebody.
    var hasInterceptors: Bool {
        if case .own(let interception) = self { !interception.interceptors.isEmpty } else { false }
    }
}

extension URLSessionConfiguration {
    /// Who has a say in the session's requests before they are sent and when they have failed. Nobody, which costs
    /// nothing.
    public var requestInterceptors: [any TaskInterceptor] {
        get { self[\.interception.interceptors] }
        set { self[\.interception.interceptors] = newValue }
    }
}

extension URLRequest {
    /// Who has a say in this request, before those of the session. Nobody.
    public var requestInterceptors: [any TaskInterceptor] {
        get { contents.interception.value.interceptors }
        set { change { $0.interception.value.interceptors = newValue } }
    }

    /// Whether the session's ``URLSessionConfiguration/requestInterceptors`` have nothing to do with this request: that
    /// of a login, say, which they would otherwise wait for. False.
    public var skipsSessionInterceptors: Bool {
        get { contents.interception.value.skipsSession }
        set { change { $0.interception.value.skipsSession = newValue } }
    }
}

extension URLSession {
    /// A request that is sent to get a token, if this is where that happens, is marked as such.
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
    /// Who has a say in its requests, in the order in which they are asked.
    func interceptors(of session: SessionCore) -> [any TaskInterceptor] {
        let own = originalRequest?.contents.interception.value ?? RequestInterception()
        let all = own.interceptors + (own.skipsSession ? [] : session.interceptors)
        guard let refresher = own.refresher else { return all }
        return all.filter { ($0 as? TokenInterceptor).map(ObjectIdentifier.init) != refresher }
    }
}
