private final class InterceptorList: KeptInterceptors {
    let all: [any TaskInterceptor]

    init(_ all: [any TaskInterceptor]) {
        self.all = all
    }
}

extension (any KeptInterceptors)? {
    /// Empty if there are none.
    var interceptors: [any TaskInterceptor] {
        get { (self as? InterceptorList)?.all ?? [] }
        set { self = newValue.isEmpty ? nil : InterceptorList(newValue) }
    }
}

extension URLSessionConfiguration {
    /// The interceptors that change the session's requests before they are sent, and decide about failed ones. Empty by
    /// default, which costs nothing.
    public var requestInterceptors: [any TaskInterceptor] {
        get { self[\.interception.kept.interceptors] }
        set { self[\.interception.kept.interceptors] = newValue }
    }
}

extension URLRequest {
    /// The interceptors of this request, which the session asks before its own. Empty by default.
    public var requestInterceptors: [any TaskInterceptor] {
        get { contents.interception.value.kept.interceptors }
        set { change { $0.interception.value.kept.interceptors = newValue } }
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
        guard settings.interception.kept != nil, let refresher = TokenRefresh.refresher else {
            return request
        }
        var request = request
        request.change { $0.interception.value.refresher = refresher }
        return request
    }
}

extension URLSessionTask {
    /// The interceptors of the task's requests, in the order in which the session asks them.
    ///
    /// - Parameter shared: Those of the session.
    func interceptors(before shared: [any TaskInterceptor]) -> [any TaskInterceptor] {
        originalRequest?.interceptors(before: shared) ?? shared
    }
}

extension URLRequest {
    /// The interceptors of a task for this request, in the order in which the session asks them.
    ///
    /// - Parameter shared: Those of the session.
    func interceptors(before shared: [any TaskInterceptor]) -> [any TaskInterceptor] {
        let own = contents.interception.value
        let all = own.kept.interceptors + (own.skipsSession ? [] : shared)
        guard let refresher = own.refresher else { return all }
        // A value is never the refresher: the cast makes a new object of it.
        return all.filter { ObjectIdentifier($0 as AnyObject) != refresher }
    }
}

/// The refresh of a token, seen from the requests that it makes.
enum TokenRefresh {
    /// The interceptor that gets a token in this Swift task.
    @TaskLocal static var refresher: ObjectIdentifier?
}
