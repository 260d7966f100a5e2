import AFTransport
import Foundation

extension URLSessionConfiguration {
    /// Through which proxies the session loads. Nil, the default, leaves it to ``connectionProxyDictionary``, and if
    /// that is nil as well to the environment. ``ProxyConfiguration/none`` means none at all.
    ///
    /// A session with a ``unixDomainSocketPath`` goes there, and through no proxy.
    public var proxies: ProxyConfiguration? {
        get { self[\.proxies.configuration] }
        set { self[\.proxies.configuration] = newValue }
    }

    /// The same in the form of Apple's loader: ``kCFNetworkProxiesHTTPSEnable`` and its like. An empty dictionary means
    /// no proxy. What is in it and cannot be used fails the requests it is meant for. Automatic configuration
    /// (`ProxyAutoConfigEnable`) cannot be used.
    public var connectionProxyDictionary: [AnyHashable: Any]? {
        get { self[\.proxies.dictionary]?.dictionary }
        set { self[\.proxies.dictionary] = newValue.map(ProxyDictionary.init) }
    }

    /// Whether a session that is told nothing else asks the environment: `http_proxy`, `https_proxy`, `all_proxy` and
    /// `no_proxy`. True. It is read once, when the session is made.
    ///
    /// All but `http_proxy` may be in upper case. `HTTP_PROXY` is never read: in a CGI program anybody who sends a
    /// request sets it. In a program that runs with more rights than its caller none of them is.
    public var usesProxyEnvironment: Bool {
        get { self[\.proxies.usesEnvironment] }
        set { self[\.proxies.usesEnvironment] = newValue }
    }
}
