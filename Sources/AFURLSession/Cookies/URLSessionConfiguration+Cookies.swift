extension URLSessionConfiguration {
    /// Where cookies are kept; nil for nowhere. The default configuration uses ``HTTPCookieStorage/shared``, an
    /// ephemeral one has a store of its own, which copies of it and all their sessions share.
    public var httpCookieStorage: HTTPCookieStorage? {
        get { self[\.cookies.storage] }
        set { self[\.cookies.storage] = newValue }
    }

    /// Whose cookies are stored and sent. Those of the main document's site, unless set. The store has a policy of its
    /// own; the stricter one counts.
    public var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy {
        get { self[\.cookies.policy] }
        set { self[\.cookies.policy] = newValue }
    }

    /// Whether the sessions send and store cookies by themselves. True.
    public var httpShouldSetCookies: Bool {
        get { self[\.cookies.setsCookies] }
        set { self[\.cookies.setsCookies] = newValue }
    }
}
