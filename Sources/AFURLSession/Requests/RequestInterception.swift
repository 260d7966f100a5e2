/// Interceptors, as settings and requests keep them: these do not know what an interceptor is.
struct KeptInterceptors: Sendable {
    let objects: [any Sendable]

    init(objects: [any Sendable] = []) {
        self.objects = objects
    }
}

/// The interceptors of a session.
struct InterceptionSettings: Sendable {
    var kept = KeptInterceptors()
}

/// The interceptors of one request.
struct RequestInterception: Sendable {
    var kept = KeptInterceptors()
    var skipsSession = false
    /// The token interceptor that has this request sent to get a token. It must not make the request wait for that
    /// token.
    var refresher: ObjectIdentifier?

    fileprivate var isUsual: Bool { kept.objects.isEmpty && !skipsSession && refresher == nil }
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
        if case .own(let interception) = self { !interception.kept.objects.isEmpty } else { false }
    }
}
