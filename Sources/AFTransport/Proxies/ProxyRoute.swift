import AFBase
package import AFWire

/// The way through one proxy. Connections are shared only by requests for which all of it is the same, credentials
/// included.
package final class ProxyRoute: Sendable {
    package let proxy: ConfiguredProxy
    /// Our credentials for an HTTP proxy: the value of `Proxy-Authorization`.
    package let authorization: String?
    /// The `User-Agent` of requests for tunnels, if they have one.
    package let agent: HTTPHeaders
    /// The proxy passes bytes on, whatever they are.
    private let alwaysTunnels: Bool

    package convenience init(
        server: ProxyServer,
        number: Int,
        tunnelsPlainHTTP: Bool = false,
        tunnelFields: TunnelFields = TunnelFields(),
        agent: HTTPHeaders = HTTPHeaders()
    ) {
        let proxy = ConfiguredProxy(
            server: server,
            number: number,
            tunnelsPlainHTTP: tunnelsPlainHTTP,
            tunnelFields: tunnelFields
        )
        let credentials = try? proxy.account.map { try BasicCredentials(user: $0.user, password: $0.password) }
        self.init(proxy, authorization: credentials?.fieldValue, agent: tunnelFields.nameAgent ? HTTPHeaders() : agent)
    }

    private init(_ proxy: ConfiguredProxy, authorization: String?, agent: HTTPHeaders, alwaysTunnels: Bool = false) {
        self.proxy = proxy
        self.authorization = authorization
        self.agent = agent
        self.alwaysTunnels = alwaysTunnels
    }

    /// The same way for a WebSocket, which a proxy that reads requests does not understand (RFC 6455 §4.1).
    package var tunnelling: ProxyRoute {
        ProxyRoute(proxy, authorization: authorization, agent: agent, alwaysTunnels: true)
    }

    package var kind: ProxyServer.Kind { proxy.kind }
    package var endpoint: Endpoint { proxy.endpoint }

    /// Its connections serve one request: their Digest credentials are good for once.
    var servesOnce: Bool { authorization.map { HTTPText.isSameName(String($0.prefix(6)), other: "digest") } ?? false }

    /// The same way with other credentials: the value of a `Proxy-Authorization` field. SOCKS has no such field.
    package func authorized(by field: String) -> ProxyRoute {
        kind.isSOCKS
            ? self
            : ProxyRoute(proxy, authorization: field, agent: agent, alwaysTunnels: alwaysTunnels)
    }

    /// The same way for a request with these fields. A request for a tunnel has its `User-Agent`, and no other field of
    /// it. A `User-Agent` among the fields for tunnels comes first.
    package func naming(agentOf fields: HTTPHeaders) -> ProxyRoute {
        guard !kind.isSOCKS, !proxy.tunnelFields.nameAgent else { return self }
        let agent = fields.firstField("User-Agent")
        guard agent != self.agent else { return self }
        return ProxyRoute(proxy, authorization: authorization, agent: agent, alwaysTunnels: alwaysTunnels)
    }

    /// Whether the two differ in the agent of their requests for tunnels at most.
    package func leadsLike(_ other: ProxyRoute) -> Bool {
        proxy === other.proxy && authorization == other.authorization && alwaysTunnels == other.alwaysTunnels
    }

    /// Whether the proxy only passes bytes on.
    package func tunnels(to destination: Endpoint) -> Bool {
        kind.isSOCKS || alwaysTunnels || destination.isSecured || proxy.tunnelsPlainHTTP
    }

    /// For messages. No secret is in it.
    package var text: String { "proxy \(kind.rawValue)://\(endpoint.text)" }
}

extension ProxyRoute: Hashable {
    package static func == (one: ProxyRoute, other: ProxyRoute) -> Bool {
        one === other
            || (one.leadsLike(other) && one.agent == other.agent)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(proxy))
        hasher.combine(authorization)
        hasher.combine(agent)
        hasher.combine(alwaysTunnels)
    }
}

/// One proxy of a session, as its configuration has it. All routes through the proxy refer to the same object.
package final class ConfiguredProxy: Sendable {
    package struct Account: Sendable {
        package let user: String
        package let password: String
    }

    package let kind: ProxyServer.Kind
    /// Where the proxy is.
    package let endpoint: Endpoint
    /// Our credentials for a SOCKS proxy.
    let login: SOCKS5Login?
    /// Our credentials for an HTTP proxy.
    package let account: Account?
    let tunnelsPlainHTTP: Bool
    /// Further fields of requests for tunnels.
    package let tunnelFields: TunnelFields
    /// How the connection to the proxy is secured, if it is.
    package let tls: TLSConfiguration?
    /// Tells the proxies of a session apart.
    package let number: Int

    fileprivate init(server: ProxyServer, number: Int, tunnelsPlainHTTP: Bool, tunnelFields: TunnelFields) {
        kind = server.kind
        endpoint = server.endpoint
        let isSOCKS = kind.isSOCKS
        login = server.user.flatMap { isSOCKS ? SOCKS5Login(user: $0, password: server.password) : nil }
        account = server.user.flatMap { isSOCKS ? nil : Account(user: $0, password: server.password) }
        self.tunnelsPlainHTTP = tunnelsPlainHTTP
        self.tunnelFields = tunnelFields
        tls = kind == .https ? server.tls : nil
        self.number = number
    }
}

/// The fields that a configuration has for requests for tunnels, checked.
package struct TunnelFields: Sendable {
    package private(set) var fields = HTTPHeaders()
    var nameAgent: Bool { fields.contains("User-Agent") }

    package init() {}

    package init(_ fields: [String: String]) throws(ProxyConfigurationError) {
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            do throws(RequestRejection) {
                try add(name, value: value)
            } catch {
                throw ProxyConfigurationError(.field, in: "tunnelFields")
            }
        }
    }

    private mutating func add(_ name: String, value: String) throws(RequestRejection) {
        try name.withUTF8Bytes { name throws(RequestRejection) in
            try value.withUTF8Bytes { value throws(RequestRejection) in
                try RequestSyntax.checkFieldName(name)
                let value = try RequestSyntax.trimmedFieldValue(value, of: name)
                // The credentials of the proxy say who we are, and we write the other reserved fields.
                guard ReservedField.of(name) == nil else { throw RequestRejection(.fieldName, rule: .notAllowed) }
                fields.append(name, value: value)
            }
        }
    }
}

extension WireRequest {
    /// The request as a proxy that reads requests gets it: with the whole URL in its first line, and with our
    /// credentials for the proxy (RFC 9112 §3.2.2). By any other way it is sent unchanged.
    func addressed(by route: ProxyRoute?) -> WireRequest {
        guard let route, !route.tunnels(to: endpoint) else { return self }
        return changing { head in
            head.isAbsolute = true
            guard let authorization = route.authorization, !head.fields.contains("Proxy-Authorization") else { return }
            head.fields.append("Proxy-Authorization", value: authorization)
        }
    }
}
