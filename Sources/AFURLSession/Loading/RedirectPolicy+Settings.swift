extension URLSessionConfiguration {
    /// Which redirects the session follows, and what goes along.
    public var redirectPolicy: RedirectPolicy {
        get { self[\.redirects] }
        set { self[\.redirects] = newValue }
    }
}

extension URLRequest {
    /// Which redirects of this request the session follows, in place of what its configuration says. Nil unless set.
    public var redirectPolicy: RedirectPolicy? {
        get { contents.redirectPolicy }
        set { change { $0.redirectPolicy = newValue } }
    }
}
