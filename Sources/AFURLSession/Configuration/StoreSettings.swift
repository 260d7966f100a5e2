extension URLSessionConfiguration {
    /// For the sessions of the process, which exist before a program can set its cache.
    static var ofProcess: URLSessionConfiguration {
        var settings = SessionSettings()
        settings.cache = .present
        return URLSessionConfiguration(settings)
    }

    /// The cache that keeps responses and answers requests; nil for none.
    ///
    /// ``/AFURLTypes/URLCache/shared`` for ``default``, and a cache of the configuration's own, in memory only, for
    /// ``ephemeral``.
    public var urlCache: URLCache? {
        get { self[\.cache].cache }
        set { self[\.cache] = newValue.map { .own($0) } ?? .none }
    }
}

/// The settings of a configuration that concern cookies.
struct CookieSettings: Sendable {
    var storage: HTTPCookieStorage? = .shared
    var policy = HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain
    var setsCookies = true

    /// The storage whose cookies the session sends, if it sends any.
    var sent: HTTPCookieStorage? { setsCookies && policy != .never ? storage : nil }

    /// For sessions that keep nothing after their end.
    static var ephemeral: CookieSettings { CookieSettings(storage: HTTPCookieStorage()) }
}

extension URLSessionConfiguration {
    /// The store of the cookies; nil for none. The default configuration uses ``/AFURLTypes/HTTPCookieStorage/shared``.
    /// An ephemeral one has a store of its own, which its copies and all their sessions share.
    public var httpCookieStorage: HTTPCookieStorage? {
        get { self[\.cookies.storage] }
        set { self[\.cookies.storage] = newValue }
    }

    /// The sites whose cookies are stored and sent: the main document's, unless set. The store has a policy of its own,
    /// and the stricter one counts.
    public var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy {
        get { self[\.cookies.policy] }
        set { self[\.cookies.policy] = newValue }
    }

    /// Whether sessions send and store cookies themselves. True.
    public var httpShouldSetCookies: Bool {
        get { self[\.cookies.setsCookies] }
        set { self[\.cookies.setsCookies] = newValue }
    }
}
