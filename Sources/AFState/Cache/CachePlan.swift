package import AFWire

/// Where the answer to a request comes from.
package enum CachePlan: Sendable, Equatable {
    /// From its server. The request gets those of these fields that it lacks.
    case network(HTTPHeaders)
    /// From the cache.
    case serve
    /// From the cache if the server confirms the stored response, or if that may stand in for an error. The request gets
    /// these fields, which ask for the confirmation; there are none if the stored response has no validator.
    case validate(HTTPHeaders)
    /// From the cache now. Meanwhile the server is asked, with these fields, whether the response may be used again.
    case serveAndValidate(HTTPHeaders)
    /// From nowhere: only the cache may answer, and it cannot.
    case fail

    static let network = CachePlan.network(HTTPHeaders())
}
