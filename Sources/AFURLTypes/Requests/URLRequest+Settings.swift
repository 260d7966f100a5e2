import AFWire
public import Foundation

extension URLRequest {
    /// How long a task with this request may take in all, in seconds, in place of
    /// ``/AFURLSession/URLSessionConfiguration/timeoutIntervalForResource``: from the moment it is resumed until its
    /// response is complete, with all redirects and attempts. The time of a suspension does not count. Nil, the
    /// default, or a number that is not positive: the session's value applies.
    ///
    /// The request that the task was made with counts, not one that a delegate or an interceptor puts in its place.
    public var timeoutIntervalForResource: TimeInterval? {
        get { contents.limits.value.resourceTimeout?.value }
        set { change { $0.limits.value.resourceTimeout = newValue.map(RequestLimits.Seconds.init) } }
    }

    /// How long this request may wait for a connection, in seconds, in place of
    /// ``/AFURLSession/URLSessionConfiguration/queueTimeout``. Nil, the default, or a number that is not positive: the
    /// session's value applies.
    public var queueTimeout: TimeInterval? {
        get { contents.limits.value.queueTimeout?.value }
        set { change { $0.limits.value.queueTimeout = newValue.map(RequestLimits.Seconds.init) } }
    }

    /// How many bytes of its body the session sends in a second, at most. Nil, the default, or a number that is not
    /// positive: as many as the network takes.
    ///
    /// The limit ``/AFURLSession/URLSessionConfiguration/maximumBytesSentPerSecond``, which all requests of a session
    /// share, holds as well. Waiting for a share does not count against ``timeoutInterval``. Redirected and repeated
    /// requests keep the limit.
    public var maximumBytesSentPerSecond: Int? {
        get { contents.limits.value.sendRate }
        set { change { $0.limits.value.sendRate = newValue } }
    }

    /// What the request is for. The session's value unless set.
    public var networkServiceType: NetworkServiceType {
        get { contents.limits.value.serviceType.flatMap(NetworkServiceType.init) ?? .default }
        set { change { $0.limits.value.serviceType = newValue.rawValue } }
    }

    /// Whether the session may send the request over a cellular network. True by default; a session that forbids it for
    /// all its requests takes precedence.
    public var allowsCellularAccess: Bool {
        get { contents.limits.value.allowsCellular }
        set { change { $0.limits.value.allowsCellular = newValue } }
    }
}

extension URLRequest {
    /// Which redirects of this request the session follows, in place of what its configuration says. Nil unless set.
    public var redirectPolicy: RedirectPolicy? {
        get { contents.redirectPolicy }
        set { change { $0.redirectPolicy = newValue } }
    }
}

/// The settings of a request that concern cookies.
package struct RequestCookies: Hashable, Sendable {
    package var isHandled = true
    package var mainDocumentURL: URL?
}

extension URLRequest {
    /// Whether the session sends cookies with this request, and stores those of its response. True.
    public var httpShouldHandleCookies: Bool {
        get { contents.cookies.isHandled }
        set { change { $0.cookies.isHandled = newValue } }
    }

    /// The main document, of which the loaded resource is a part. Cookies of other sites than that document's are
    /// neither sent nor stored under ``HTTPCookie/AcceptPolicy/onlyFromMainDocumentDomain``. Nil, the default, if the
    /// resource is its own main document.
    public var mainDocumentURL: URL? {
        get { contents.cookies.mainDocumentURL }
        set { change { $0.cookies.mainDocumentURL = newValue } }
    }
}

/// Interceptors, as settings and requests keep them. Who asks them knows what they are.
package protocol KeptInterceptors: AnyObject, Sendable {}

/// The interceptors of one request.
package struct RequestInterception: Sendable {
    package var kept: (any KeptInterceptors)?
    package var skipsSession = false
    /// The token interceptor that has this request sent to get a token. It must not make the request wait for that
    /// token.
    package var refresher: ObjectIdentifier?

    package init() {}

    fileprivate var isUsual: Bool { kept == nil && !skipsSession && refresher == nil }
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
        if case .own(let interception) = self { interception.kept != nil } else { false }
    }
}
