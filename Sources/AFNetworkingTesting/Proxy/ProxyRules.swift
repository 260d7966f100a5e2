/// Which clients and targets a `TestProxy` accepts, and which addresses names have.
public struct ProxyRules: Sendable {
    /// The credentials that clients must show.
    @nonexhaustive
    public enum Authentication: Sendable, Hashable {
        /// Nothing.
        case none
        /// A user and a password: with Basic for HTTP, as in RFC 1929 for SOCKS.
        case password(user: String, password: String, realm: String = "proxy")
        /// A response to a Digest challenge. The proxy offers `auth` only, not `auth-int`.
        /// SOCKS has no Digest: a SOCKS proxy with this setting refuses every client.
        case digest(DigestRules)
    }

    /// The credentials that clients must show.
    public var authentication = Authentication.none
    /// The addresses of names: `"origin.test"` for any port, `"origin.test:443"` for one port, which has precedence.
    /// Port 0 in an address stands for the port that the client asked for. A key may be an IP address, too.
    public var names: [String: ListenAddress] = [:]
    /// The only hosts that clients may ask for, as clients write them; nil for any.
    public var allowedHosts: Set<String>?
    /// Hosts that clients may not ask for, as clients write them.
    public var refusedHosts: Set<String> = []
    /// Whether the proxy connects to other machines. If not, it asks no resolver and connects only to the loopback
    /// interface and to `names`.
    public var reachesOtherMachines = false
    /// How long the proxy waits for a connection to a target.
    public var connectTimeout = Duration.seconds(10)

    /// Accepts every client and every target on the loopback interface.
    public init() {}

    func allows(_ host: String) -> Bool {
        if refusedHosts.contains(where: { $0.equalsIgnoringCase(host) }) { return false }
        return allowedHosts?.contains { $0.equalsIgnoringCase(host) } ?? true
    }

    /// The address that `names` has for a target.
    func address(of target: ProxyTarget) -> ListenAddress? {
        let exact = names.first { $0.key.equalsIgnoringCase("\(target.host):\(target.port)") }
        return (exact ?? names.first { $0.key.equalsIgnoringCase(target.host) })?.value.withPort(target.port)
    }
}

extension ListenAddress {
    fileprivate func withPort(_ wanted: UInt16) -> ListenAddress {
        switch self {
        case .ipv4Loopback(0): .ipv4Loopback(port: wanted)
        case .ipv6Loopback(0): .ipv6Loopback(port: wanted)
        case .ipv4Loopback, .ipv6Loopback, .unix: self
        }
    }
}
