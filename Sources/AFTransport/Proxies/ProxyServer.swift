package import AFWire

/// One proxy: its protocol, its place, and our credentials for it.
///
/// ```swift
/// let office = try ProxyServer("http://proxy.example.com:3128")
/// let lab = try ProxyServer(.socks5h, host: "::1", port: 1080, user: "me", password: secret)
/// ```
public struct ProxyServer: Sendable {
    /// What a proxy speaks.
    @nonexhaustive
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// HTTP, in the clear.
        case http
        /// HTTP within TLS.
        case https
        /// SOCKS 5; the session looks names up.
        case socks5
        /// SOCKS 5; the proxy looks names up.
        case socks5h

        package var isSOCKS: Bool { self == .socks5 || self == .socks5h }

        /// What a URL without a port means.
        var defaultPort: UInt16 {
            switch self {
            case .http: 80
            case .https: 443
            case .socks5, .socks5h: 1080
            }
        }
    }

    /// What it speaks.
    public let kind: Kind
    /// The user name that the session sends to it, if any.
    public let user: String?
    /// How the session secures a connection to an ``Kind/https`` proxy. The session's own `tls` is for servers only.
    /// The evaluator in here judges the proxy, by the proxy's name, and no delegate is asked.
    public var tls = TLSConfiguration()

    package let endpoint: Endpoint
    package let password: String

    /// Its host as it stands in a URL: an IPv6 address in brackets.
    public var host: String { endpoint.host.bracketed }
    /// Its port.
    public var port: Int { Int(endpoint.port) }

    /// Makes one from its parts.
    ///
    /// - Parameters:
    ///   - kind: What it speaks.
    ///   - host: A name or an address; IPv6 with or without brackets.
    ///   - port: 80, 443 or 1080 if nil, by what it speaks.
    ///   - user: A user name. The session sends it with the first request, and only to this proxy.
    ///   - password: The password that belongs to it.
    public init(
        _ kind: Kind,
        host: String,
        port: Int? = nil,
        user: String? = nil,
        password: String = ""
    ) throws(ProxyConfigurationError) {
        guard let port = UInt16(exactly: port ?? Int(kind.defaultPort)), port > 0 else {
            throw ProxyConfigurationError(.port)
        }
        let isBare = host.utf8.contains(UInt8(ascii: ":")) && host.utf8.first != UInt8(ascii: "[")
        try self.init(
            kind,
            host: ProxyServer.host(isBare ? "[\(host)]" : host),
            port: port,
            user: user,
            password: password
        )
    }

    /// Makes one from its URL: `scheme://user:password@host:port`, where only the host must be there.
    ///
    /// Without a scheme it is `http`. User name and password are percent-encoded, so that `@`, `:` and `%` in them
    /// cannot be taken for anything else. A `/` may follow, and nothing else.
    public init(_ text: String) throws(ProxyConfigurationError) {
        let parts = try ProxyURL(text)
        try self.init(
            parts.kind,
            host: parts.host,
            port: parts.port ?? parts.kind.defaultPort,
            user: parts.user,
            password: parts.password
        )
    }

    private init(
        _ kind: Kind,
        host: Endpoint.Host,
        port: UInt16,
        user: String?,
        password: String
    ) throws(ProxyConfigurationError) {
        guard user != nil || password.isEmpty else { throw ProxyConfigurationError(.credentials) }
        if let user { try ProxyServer.check(user, password: password, for: kind) }
        self.kind = kind
        self.user = user
        self.password = password
        endpoint = Endpoint(scheme: kind == .https ? .https : .http, host: host, port: port)
    }

    package static func host(_ text: String) throws(ProxyConfigurationError) -> Endpoint.Host {
        do throws(RequestRejection) {
            return try text.withUTF8Bytes { bytes throws(RequestRejection) in
                try Endpoint.Host(bytes, offset: 0)
            }
        } catch {
            throw ProxyConfigurationError(.host)
        }
    }

    /// RFC 1929 counts both in one byte; RFC 7617 forbids a colon in the name, and controls in both.
    private static func check(_ user: String, password: String, for kind: Kind) throws(ProxyConfigurationError) {
        if kind.isSOCKS {
            guard 1...255 ~= user.utf8.count, password.utf8.count <= 255 else {
                throw ProxyConfigurationError(.credentials)
            }
        } else if (try? BasicCredentials(user: user, password: password)) == nil {
            throw ProxyConfigurationError(.credentials)
        }
    }
}

extension ProxyServer: CustomStringConvertible {
    /// What it speaks and where it is; nothing of the credentials.
    public var description: String { "\(kind.rawValue)://\(endpoint.text)" }
}

extension ProxyServer: CustomReflectable {
    /// What `dump` shows: as little as the description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
