import AFTransport
import AFWire

/// The proxies of a session: which request takes which, and the TLS rules for connections to them.
final class SessionProxies {
    private let rules: ProxySelection
    private let connectionsPerHost: Int
    private var securities: [Int: SessionSecurity] = [:]
    private var lastNamed: ProxyRoute?

    init(rules: ProxySelection, connectionsPerHost: Int) {
        self.rules = rules
        self.connectionsPerHost = connectionsPerHost
    }

    /// Whether the session reaches everything without a proxy.
    var isEmpty: Bool { rules.isEmpty }

    func route(for endpoint: Endpoint) throws(ProxyConfigurationError) -> ProxyRoute? {
        try rules.route(for: endpoint)
    }

    /// The route for a request whose `User-Agent` differs from the session's; most requests use the session's.
    func naming(_ route: ProxyRoute, by request: WireRequest) -> ProxyRoute {
        if let lastNamed, lastNamed.leadsLike(route), lastNamed.naming(agentOf: request.head.fields) === lastNamed {
            return lastNamed
        }
        let named = route.naming(agentOf: request.head.fields)
        if named !== route { lastNamed = named }
        return named
    }

    /// Forgets what the TLS contexts have learnt: new connections to proxies have the same rules, but resume no
    /// sessions.
    func forget() {
        for security in securities.values { security.forget() }
    }

    /// Applies the rules as they are now: an evaluator may have changed.
    func follow(_ retire: (SecurityContext, SecurityContext) -> Void) {
        for security in securities.values where security.isInUse { _ = security.context(retire) }
    }

    /// The TLS rules for a new connection to the proxy; nil if it has no TLS. If the rules have changed, calls `retire`
    /// with the former and the new ones.
    func security(for route: ProxyRoute, retire: (SecurityContext, SecurityContext) -> Void) -> SecurityContext? {
        guard let tls = route.proxy.tls else { return nil }
        let security =
            securities[route.proxy.number]
            ?? SessionSecurity(tls, connectionsPerHost: connectionsPerHost, owner: route.proxy.number)
        securities[route.proxy.number] = security
        return security.context(retire)
    }
}
