package import AFWire

/// The way through one proxy. Compared by value: connections are shared only by requests for which all of it is the
/// same, credentials included.
package final class ProxyRoute: Sendable {
    package struct Account: Sendable {
        package let user: String
        package let password: String
    }

    package let kind: ProxyServer.Kind
    /// Where the proxy is.
    package let endpoint: Endpoint
    /// Our credentials for an HTTP proxy: the value of `Proxy-Authorization`.
    package let authorization: String?
    /// Our credentials for a SOCKS proxy.
    package let login: SOCKS5Login?
    /// What `authorization` says, for HTTP proxies that want it in another form.
    package let account: Account?
    /// Its connections serve one request: their Digest credentials are good for once.
    let servesOnce: Bool
    package let tunnelsPlainHTTP: Bool
    /// The `User-Agent` line of requests for tunnels, with its end, or nothing.
    package let agentLine: [UInt8]
    /// Further lines for requests that ask for a tunnel, each with its end.
    package let tunnelLines: TunnelLines
    /// How the connection to the proxy is secured, if it is.
    package let tls: TLSConfiguration?
    /// Tells the proxies of a session apart.
    package let number: Int

    package init(
        _ server: ProxyServer,
        number: Int,
        tunnelsPlainHTTP: Bool = false,
        tunnelLines: TunnelLines = TunnelLines(),
        agentLine: [UInt8] = []
    ) {
        kind = server.kind
        endpoint = server.endpoint
        self.number = number
        self.tunnelsPlainHTTP = tunnelsPlainHTTP
        self.tunnelLines = tunnelLines
        self.agentLine = tunnelLines.nameAgent ? [] : agentLine
        tls = kind == .https ? server.tls : nil
        let isSOCKS = kind.isSOCKS
        account = server.user.flatMap { isSOCKS ? nil : Account(user: $0, password: server.password) }
        servesOnce = false
        login = server.user.flatMap { isSOCKS ? SOCKS5Login(user: $0, password: server.password) : nil }
        authorization = server.user.flatMap { user in
            isSOCKS ? nil : try? BasicCredentials(user: user, password: server.password).fieldValue
        }
    }

    private init(_ other: ProxyRoute, authorization: String?, agentLine: [UInt8]) {
        kind = other.kind
        endpoint = other.endpoint
        self.authorization = authorization
        self.agentLine = agentLine
        login = other.login
        account = other.account
        servesOnce = authorization.map { HTTPText.lowered($0).utf8.starts(with: "digest".utf8) } ?? false
        tunnelsPlainHTTP = other.tunnelsPlainHTTP
        tunnelLines = other.tunnelLines
        tls = other.tls
        number = other.number
    }

    /// The same way with other credentials: the value of a `Proxy-Authorization` field. SOCKS has no such field.
    package func authorized(by field: String) -> ProxyRoute {
        kind.isSOCKS ? self : ProxyRoute(self, authorization: field, agentLine: agentLine)
    }

    /// The same way for a request with this head. A request for a tunnel has its `User-Agent`, and no other field of
    /// it. A `User-Agent` among the fields for tunnels comes first.
    package func naming(agentOf head: [UInt8]) -> ProxyRoute {
        guard !kind.isSOCKS, !tunnelLines.nameAgent else { return self }
        let line = HeadField.userAgent.line(in: head)
        guard agentLine[...] != line.map({ head[$0] }) ?? [] else { return self }
        return ProxyRoute(self, authorization: authorization, agentLine: line.map { Array(head[$0]) } ?? [])
    }

    /// Whether the proxy only passes bytes on.
    package func tunnels(to destination: Endpoint) -> Bool {
        kind.isSOCKS || destination.scheme == .https || tunnelsPlainHTTP
    }

    /// For messages. No secret is in it.
    package var text: String { "proxy \(kind.rawValue)://\(endpoint.text)" }
}

extension ProxyRoute: Hashable {
    package static func == (one: ProxyRoute, other: ProxyRoute) -> Bool {
        one === other
            || (one.kind == other.kind && one.endpoint == other.endpoint && one.authorization == other.authorization
                && one.login == other.login && one.tunnelsPlainHTTP == other.tunnelsPlainHTTP
                && one.tunnelLines == other.tunnelLines && one.agentLine == other.agentLine
                && one.number == other.number)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(endpoint)
        hasher.combine(authorization)
        hasher.combine(login)
    }
}
