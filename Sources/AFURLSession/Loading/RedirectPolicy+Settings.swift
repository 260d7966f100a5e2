extension URLSessionConfiguration {
    /// Which redirects are followed, and what goes along.
    public var redirectPolicy: RedirectPolicy {
        get { self[\.redirects] }
        set { self[\.redirects] = newValue }
    }
}

extension URLRequest {
    /// Which redirects of this request are followed, in place of what the session's configuration says; nil unless
    /// set.
    public var redirectPolicy: RedirectPolicy? {
        get { contents.redirectPolicy }
        set { change { $0.redirectPolicy = newValue } }
    }
}
