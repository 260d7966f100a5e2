extension URLSessionConfiguration {
    /// Which redirects the session follows, and what goes along.
    public var redirectPolicy: RedirectPolicy {
        get { self[\.redirects] }
        set { self[\.redirects] = newValue }
    }
}
