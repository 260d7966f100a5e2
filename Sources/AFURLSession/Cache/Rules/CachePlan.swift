import AFWire

/// Where the answer to a request comes from.
enum CachePlan: Sendable, Equatable {
    /// From its server. The request gets these fields, unless it has them.
    case network(HTTPHeaders)
    /// From the cache.
    case serve
    /// From the cache if the server says that it is still good: the request gets these fields.
    case validate(HTTPHeaders)
    /// From the cache now; with these fields the server is asked meanwhile whether it may be
    /// used again.
    case serveAndValidate(HTTPHeaders)
    /// From nowhere: only the cache was allowed, and it cannot answer.
    case fail

    static let network = CachePlan.network(HTTPHeaders())
}
