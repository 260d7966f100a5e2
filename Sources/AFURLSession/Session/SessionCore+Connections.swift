import AFTransport
import AFWire

extension SessionCore {
    /// The kind of connection that a request needs.
    ///
    /// - Parameter judge: Who answers challenges in place of the session's delegate.
    func connectionKey(for request: WireRequest, judgedBy judge: TrustJudge?) throws(LoadError) -> ConnectionKey {
        var key = try connectionKey(for: request.endpoint, judgedBy: judge)
        key.follow(settings.link.terms(for: request.ownLimits))
        guard var route = key.route else { return key }
        if request.opensWebSocket { route = route.tunnelling }
        if route.tunnels(to: request.endpoint) { route = proxies.naming(route, by: request) }
        return key.route === route ? key : key.led(by: route)
    }

    /// The kind of connection to an endpoint that no request names: the session's `User-Agent` goes to the proxy.
    func connectionKey(for endpoint: Endpoint, judgedBy judge: TrustJudge?) throws(LoadError) -> ConnectionKey {
        let security = endpoint.isSecured ? currentSecurity() : nil
        if judge == nil, settings.unixDomainSocketPath == nil, proxies.isEmpty {
            return ConnectionKey(endpoint: endpoint, security: security)
        }
        var options = ConnectionKey.Options(unixPath: settings.unixDomainSocketPath, judge: judge)
        if options.unixPath != nil || proxies.isEmpty {
            return ConnectionKey(endpoint: endpoint, security: security, options: options)
        }
        do throws(ProxyConfigurationError) {
            options.route = try proxies.route(for: endpoint)
        } catch {
            throw .proxyMisconfigured(error)
        }
        options.proxySecurity = options.route.flatMap { route in
            proxies.security(for: route) { former, present in pool.replace(former, with: present) }
        }
        return ConnectionKey(endpoint: endpoint, security: security, options: options)
    }
}
