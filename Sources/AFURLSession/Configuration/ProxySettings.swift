import AFTransport
import AFWire
import Foundation

/// The proxy settings of a configuration.
struct ProxySettings: Sendable {
    var configuration: ProxyConfiguration?
    var dictionary: ProxyDictionary?
    var usesEnvironment = true

    /// - Parameter environment: Read only if the configuration names no proxies.
    func rules(agent: HTTPHeaders, environment: () -> [String: String]) -> ProxySelection {
        if let configuration { return ProxySelection(configuration, agent: agent) }
        if let dictionary { return ProxySelection(dictionary, agent: agent) }
        guard usesEnvironment, case let variables = environment(), !variables.isEmpty else { return ProxySelection() }
        return ProxySelection(ProxyEnvironment(variables), agent: agent)
    }
}

extension URLSessionConfiguration {
    /// The proxies that the session loads through. Nil, the default, leaves it to ``connectionProxyDictionary``, and if
    /// that is nil as well to the environment. ``/AFTransport/ProxyConfiguration/none`` means no proxy at all.
    ///
    /// A session with a ``unixDomainSocketPath`` connects to that socket, and to no proxy.
    public var proxies: ProxyConfiguration? {
        get { self[\.proxies.configuration] }
        set { self[\.proxies.configuration] = newValue }
    }

    /// The same in the form of Apple's URL loading system: `HTTPSEnable`, `HTTPSProxy`, `HTTPSPort` and their like,
    /// whose names (`kCFNetworkProxiesHTTPSEnable`) are in `AFSecurity`. An empty dictionary means no proxy. An entry
    /// that cannot be used fails the requests it is meant for. Automatic configuration (`ProxyAutoConfigEnable`) cannot
    /// be used.
    public var connectionProxyDictionary: [AnyHashable: Any]? {
        get { self[\.proxies.dictionary]?.dictionary }
        set { self[\.proxies.dictionary] = newValue.map(ProxyDictionary.init) }
    }

    /// Whether a session without other proxy settings reads the environment: `http_proxy`, `https_proxy`, `all_proxy`
    /// and `no_proxy`. True by default. It reads them once, when it is made.
    ///
    /// All but `http_proxy` may be in upper case. The session never reads `HTTP_PROXY`: in a CGI program any client
    /// sets it with a request field. A program that runs with more rights than its caller reads none of them.
    public var usesProxyEnvironment: Bool {
        get { self[\.proxies.usesEnvironment] }
        set { self[\.proxies.usesEnvironment] = newValue }
    }
}
