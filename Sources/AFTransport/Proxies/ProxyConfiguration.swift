/// The proxies that a session loads through.
///
/// ```swift
/// var proxies = ProxyConfiguration(try ProxyServer("http://proxy.example.com:3128"))
/// proxies.exceptions = try ProxyExceptions([".example.com", "10.0.0.0/8"])
/// configuration.proxies = proxies
/// ```
///
/// `https` always goes through a tunnel (`CONNECT`, or SOCKS): the proxy sees host and port of the server, and the
/// session checks the certificates of the server at its end, pins included. `http` goes to an HTTP proxy as a request
/// that names the whole URL.
///
/// A proxy that fails fails the request. The session never takes another way than the configured one.
public struct ProxyConfiguration: Sendable {
    /// For `http` URLs; nil means ``all``.
    public var http: ProxyServer?
    /// For `https` URLs; nil means ``all``.
    public var https: ProxyServer?
    /// For URLs without a proxy of their own; nil means no proxy.
    public var all: ProxyServer?

    /// The hosts that the session reaches without a proxy.
    public var exceptions = ProxyExceptions()

    /// Whether the session reaches this machine, too, through the proxy: `localhost` and the names below it,
    /// 127.0.0.0/8, ::1, and 0.0.0.0 and ::, which the kernel takes for itself. False: to the proxy they mean its own
    /// machine, and it need not learn what runs here.
    public var includesLoopback = false

    /// Whether the session reaches hosts without a dot in their name without a proxy. False.
    public var excludesSimpleHostnames = false

    /// Whether the session asks an HTTP proxy for a tunnel for `http` URLs, too. False.
    public var tunnelsPlainHTTP = false

    /// Fields for the requests that ask a proxy for a tunnel, and for no others. Of the fields of the session and of
    /// the request, only `User-Agent` is ever in them.
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
