/// Through which proxies a session loads.
///
/// ```swift
/// var proxies = ProxyConfiguration(try ProxyServer("http://proxy.example.com:3128"))
/// proxies.exceptions = try ProxyExceptions([".example.com", "10.0.0.0/8"])
/// configuration.proxies = proxies
/// ```
///
/// `https` always goes through a tunnel (`CONNECT`, or SOCKS): the proxy sees host and port of the server, and
/// whatever the session asks of its servers' certificates, pins included, is asked of the server at its end. `http`
/// goes to an HTTP proxy as a request that names the whole URL.
///
/// A proxy that fails fails the request. Nothing ever goes another way than configured.
public struct ProxyConfiguration: Sendable {
    /// For `http` URLs; nil means ``all``.
    public var http: ProxyServer?
    /// For `https` URLs; nil means ``all``.
    public var https: ProxyServer?
    /// For whatever has no proxy of its own; nil means no proxy.
    public var all: ProxyServer?

    /// Who is reached without a proxy.
    public var exceptions = ProxyExceptions()

    /// Whether also this machine is reached through the proxy: `localhost` and the names below it, 127.0.0.0/8, ::1,
    /// and 0.0.0.0 and ::, which the kernel takes for itself. False: the proxy's own machine is not what they mean, and
    /// it need not learn what runs here.
    public var includesLoopback = false

    /// Whether hosts without a dot in their name are reached without a proxy. False.
    public var excludesSimpleHostnames = false

    /// Whether an HTTP proxy is asked for a tunnel also for `http` URLs. False.
    public var tunnelsPlainHTTP = false

    /// Fields for the requests that ask a proxy for a tunnel, and for no others. None of the session's or a request's
    /// own fields are ever in them.
    public var tunnelFields: [String: String] = [:]

    /// No proxy at all, whatever the environment says.
    public static let none = ProxyConfiguration()

    /// No proxy at all, whatever the environment says.
    public init() {}

    /// One proxy for everything.
    public init(_ proxy: ProxyServer) {
        all = proxy
    }
}
