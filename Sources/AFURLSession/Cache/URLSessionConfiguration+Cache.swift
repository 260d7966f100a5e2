extension URLSessionConfiguration {
    /// What responses are kept in, and requests are answered from; nil for nothing.
    ///
    /// ``URLCache/shared`` for ``default``, and a cache of the configuration's own, in memory
    /// only, for ``ephemeral``.
    public var urlCache: URLCache? {
        get { self[\.cache].cache }
        set { self[\.cache] = newValue.map { .own($0) } ?? .none }
    }
}
