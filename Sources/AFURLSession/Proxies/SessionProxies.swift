import AFTransport
import AFWire

/// The proxies of a session: which request takes which, and the rules by which connections to them are secured.
final class SessionProxies {
    private let rules: ProxySelection
    private let connectionsPerHost: Int
    private var securities: [Int: SessionSecurity] = [:]
    private var lastNamed: ProxyRoute?

    init(_ rules: ProxySelection, connectionsPerHost: Int) {
        self.rules = rules
        self.connectionsPerHost = connectionsPerHost
    }

    /// Everything is reached without a proxy.
    var isEmpty: Bool { rules.isEmpty }

    func route(for endpoint: Endpoint) throws(ProxyConfigurationError) -> ProxyRoute? {
        try rules.route(for: endpoint)
    }

    /// The way for a request that calls us something else than the session does; most that do use the same name.
    func naming(_ route: ProxyRoute, by request: WireRequest) -> ProxyRoute {
        if let lastNamed, lastNamed.number == route.number, lastNamed.naming(agentOf: request.headBytes) === lastNamed {
            return lastNamed
        }
        let named = route.naming(agentOf: request.headBytes)
        if named !== route { lastNamed = named }
        return named
    }

    /// The connections to proxies that start from now on have the same rules, and nothing of what was learnt under them.
    func forget() {
        for security in securities.values { security.forget() }
    }

    /// The rules for a connection to the proxy that starts now, if it is secured at all. If they have changed, `retire`
    /// is told which ones are over.
    func security(for route: ProxyRoute, _ retire: (SecurityContext, SecurityContext) -> Void) -> SecurityContext? {
        guard let tls = route.tls else { return nil }
        let security =
            securities[route.number]
            ?? SessionSecurity(tls, connectionsPerHost: connectionsPerHost, owner: route.number)
        securities[route.number] = security
        return security.context(retire)
    }
}

extension SessionCore {
    /// The connection that a request is sent on.
    func connectionKey(for request: WireRequest) throws(LoadError) -> ConnectionKey {
        let key = try connectionKey(for: request.endpoint)
        guard let route = key.route, route.tunnels(to: request.endpoint) else { return key }
        let named = proxies.naming(route, by: request)
        return named === route ? key : key.led(by: named)
    }

    /// The connection to an endpoint that is reached in the name of the session.
    func connectionKey(for endpoint: Endpoint) throws(LoadError) -> ConnectionKey {
        let security = endpoint.scheme == .https ? currentSecurity() : nil
        if let path = settings.unixDomainSocketPath {
            return ConnectionKey(endpoint: endpoint, security: security, way: ConnectionKey.Way(unixPath: path))
        }
        if proxies.isEmpty { return ConnectionKey(endpoint: endpoint, security: security) }
        var way = ConnectionKey.Way()
        do throws(ProxyConfigurationError) {
            way.route = try proxies.route(for: endpoint)
        } catch {
            throw .proxyMisconfigured(error)
        }
        way.proxySecurity = way.route.flatMap { route in
            proxies.security(for: route) { former, present in pool.replace(former, with: present) }
        }
        return ConnectionKey(endpoint: endpoint, security: security, way: way)
    }
}
