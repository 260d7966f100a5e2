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

/// The host and port that a client asks the proxy for.
struct ProxyTarget: Sendable, Equatable {
    /// Without brackets.
    let host: String
    let port: UInt16

    init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Reads `host:port`, or the authority of a URL.
    ///
    /// - Parameter usualPort: The port if the text has none; nil if it must have one.
    init?(authority: some Collection<UInt8>, usualPort: UInt16?) {
        let text = Array(authority)
        var host = text[...]
        var rest = text[text.endIndex...]
        if text.first == UInt8(ascii: "[") {
            guard let end = text.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            (host, rest) = (text[1..<end], text[(end + 1)...])
        } else if let colon = text.lastIndex(of: UInt8(ascii: ":")) {
            (host, rest) = (text[..<colon], text[colon...])
        }
        // No user name, and no colon in the host outside of brackets.
        guard !host.isEmpty, !host.contains(UInt8(ascii: "@")) else { return nil }
        guard text.first == UInt8(ascii: "[") || !host.contains(UInt8(ascii: ":")) else { return nil }
        guard !rest.isEmpty else {
            guard let usualPort else { return nil }
            self.init(host: String(decoding: host, as: UTF8.self), port: usualPort)
            return
        }
        let digits = String(decoding: rest.dropFirst(), as: UTF8.self)
        guard rest.first == UInt8(ascii: ":"), let port = DecimalText.count(digits).flatMap({ UInt16(exactly: $0) })
        else { return nil }
        self.init(host: String(decoding: host, as: UTF8.self), port: port)
    }
}

/// A request target in absolute form: the server to connect to, and the path to ask it for.
struct AbsoluteTarget: Equatable {
    let target: ProxyTarget
    /// The target of the forwarded request.
    let path: String

    /// Nil unless the text begins with `http://` and an authority.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard String(decoding: bytes.prefix(7), as: UTF8.self).equalsIgnoringCase("http://") else { return nil }
        let authority = bytes[7...].prefix { !"/?#".utf8.contains($0) }
        guard let target = ProxyTarget(authority: authority, usualPort: 80) else { return nil }
        self.target = target
        let rest = String(decoding: bytes[authority.endIndex...], as: UTF8.self)
        path = rest.utf8.first == UInt8(ascii: "/") ? rest : "/" + rest
    }
}
