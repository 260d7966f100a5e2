import AFLoop
import AFTransport
import AFWire

/// The marks on a connection's packets, and the networks it may use. Requests that differ in these do not share a
/// connection.
struct LinkRules: Sendable, Hashable {
    var serviceType = URLRequest.NetworkServiceType.default
    var allowsCellular = true

    var terms: LinkTerms {
        var terms = LinkTerms()
        terms.mark(serviceType.marking)
        terms.avoidsCellular = !allowsCellular
        return terms
    }

    /// The request's own rules take precedence over the session's, but never widen them.
    func terms(for request: RequestLimits?) -> LinkTerms {
        var terms = terms
        guard let request else { return terms }
        if let own = request.serviceType.flatMap(URLRequest.NetworkServiceType.init) { terms.mark(own.marking) }
        terms.avoidsCellular = terms.avoidsCellular || !request.allowsCellular
        return terms
    }
}
