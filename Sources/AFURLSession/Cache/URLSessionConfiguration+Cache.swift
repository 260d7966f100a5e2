extension URLSessionConfiguration {
    /// The cache that keeps responses and answers requests; nil for none.
    ///
    /// ``URLCache/shared`` for ``default``, and a cache of the configuration's own, in memory only, for ``ephemeral``.
    public var urlCache: URLCache? {
        get { self[\.cache].cache }
        set { self[\.cache] = newValue.map { .own($0) } ?? .none }
    }
}
