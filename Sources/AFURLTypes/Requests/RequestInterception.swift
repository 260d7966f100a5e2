/// Interceptors, as settings and requests keep them: these do not know what an interceptor is.
package struct KeptInterceptors: Sendable {
    package let objects: [any Sendable]

    package init(objects: [any Sendable] = []) {
        self.objects = objects
    }
}

/// The interceptors of one request.
package struct RequestInterception: Sendable {
    package var kept = KeptInterceptors()
    package var skipsSession = false
    /// The token interceptor that has this request sent to get a token. It must not make the request wait for that
    /// token.
    package var refresher: ObjectIdentifier?

    package init() {}

    fileprivate var isUsual: Bool { kept.objects.isEmpty && !skipsSession && refresher == nil }
}

/// The same in the space of a reference: nearly every request keeps the defaults.
package enum OwnInterception: Sendable {
    case usual
    indirect case own(RequestInterception)

    package var value: RequestInterception {
        get { if case .own(let interception) = self { interception } else { RequestInterception() } }
        set { self = newValue.isUsual ? .usual : .own(newValue) }
    }

    /// Whether the request has interceptors of its own.
    package var hasInterceptors: Bool {
        if case .own(let interception) = self { !interception.kept.objects.isEmpty } else { false }
    }
}
