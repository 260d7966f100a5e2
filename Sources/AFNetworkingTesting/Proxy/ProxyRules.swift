/// What a `TestProxy` lets through, to whom, and where it leads.
public struct ProxyRules: Sendable {
    /// What clients must show first.
    public enum Authentication: Sendable, Hashable {
        /// Nothing.
        case none
        /// A user and a password: Basic for HTTP, RFC 1929 for SOCKS.
        case password(user: String, password: String, realm: String = "proxy")
        /// A response to a Digest challenge. It covers the request, never the body: `auth-int` is not offered.
        /// A SOCKS proxy, for which there is no such thing, then refuses everybody.
        case digest(DigestRules)
    }

    /// What clients must show first.
    public var authentication = Authentication.none
    /// Where names lead: `"origin.test"` for any port, `"origin.test:443"` for one, which has precedence. Port 0 in
    /// an address stands for the port the client asked for. Addresses may stand for names, too.
    public var names: [String: ListenAddress] = [:]
    /// The only hosts that clients may ask for, as they write them; nil for any.
    public var allowedHosts: Set<String>?
    /// Hosts that clients may not ask for, as they write them.
    public var refusedHosts: Set<String> = []
    /// Whether it goes to other machines, too. If not, it asks no resolver and connects to the loopback interface
    /// and to `names` only.
    public var reachesOtherMachines = false
    /// How long it waits for a connection to be made.
    public var connectTimeout = Duration.seconds(10)

    /// Lets everybody go everywhere on the loopback interface.
    public init() {}
}

extension ProxyRules {
    func allows(_ host: String) -> Bool {
        if refusedHosts.contains(where: { $0.equalsIgnoringCase(host) }) { return false }
        return allowedHosts?.contains { $0.equalsIgnoringCase(host) } ?? true
    }

    /// Where a name of the table leads.
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
