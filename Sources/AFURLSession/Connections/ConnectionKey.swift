import AFLoop
import AFWire

/// What two requests must have in common to share a connection. Compared by value,
/// every field; whatever influences who is at the other end belongs in here.
struct ConnectionKey: Hashable {
    let endpoint: Endpoint
    /// The rules a secured connection is made under; nil for one in the clear.
    let security: SecurityContext?
    /// Nil for the straight way: keys are handed on often, and most are of this kind.
    private let detour: Detour?

    private final class Detour: Hashable {
        let unixPath: String?
        let route: ProxyRoute?
        let proxySecurity: SecurityContext?
        let link: LinkRules
        let judge: TrustJudge?

        init(
            _ unixPath: String?,
            _ route: ProxyRoute?,
            _ proxySecurity: SecurityContext?,
            _ link: LinkRules,
            _ judge: TrustJudge?
        ) {
            self.unixPath = unixPath
            self.route = route
            self.proxySecurity = proxySecurity
            self.link = link
            self.judge = judge
        }

        static func == (one: Detour, other: Detour) -> Bool {
            one === other
                || (one.unixPath == other.unixPath && one.route == other.route
                    && one.proxySecurity == other.proxySecurity && one.link == other.link
                    && one.judge == other.judge)
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(unixPath)
            hasher.combine(route)
            hasher.combine(proxySecurity)
            hasher.combine(link)
            hasher.combine(judge)
        }
    }

    init(
        endpoint: Endpoint,
        unixPath: String?,
        security: SecurityContext?,
        route: ProxyRoute? = nil,
        proxySecurity: SecurityContext? = nil,
        link: LinkRules = .usual,
        judge: TrustJudge? = nil
    ) {
        self.endpoint = endpoint
        self.security = security
        let isStraight = unixPath == nil && route == nil && link == .usual && judge == nil
        detour = isStraight ? nil : Detour(unixPath, route, proxySecurity, link, judge)
    }

    /// The session's Unix-domain socket, which takes the place of host and port.
    var unixPath: String? { detour?.unixPath }
    /// The proxy on the way, with what it knows us by. Nil: there is none.
    var route: ProxyRoute? { detour?.route }
    /// The rules a secured connection to the proxy is made under.
    var proxySecurity: SecurityContext? { detour?.proxySecurity }
    /// How its packets are marked, and which networks it may take.
    var link: LinkRules { detour?.link ?? .usual }
    /// Who decides about the server in place of the session.
    var judge: TrustJudge? { detour?.judge }

    /// The same place by the same way, whatever the rules. For what belongs to the rules
    /// and must not hold them.
    var place: ConnectionKey {
        ConnectionKey(endpoint: endpoint, unixPath: unixPath, security: nil, route: route, judge: judge)
    }

    /// The proxy, as the other end of a connection of its own.
    var proxyKey: ConnectionKey? {
        route.map { ConnectionKey(endpoint: $0.endpoint, unixPath: nil, security: proxySecurity) }
    }

    func isMade(under security: SecurityContext) -> Bool {
        self.security == security || proxySecurity == security
    }

    /// The same under the rules that hold now, which are found by whose they are.
    func renewed(under present: [Int: SecurityContext]) -> ConnectionKey {
        ConnectionKey(
            endpoint: endpoint,
            unixPath: unixPath,
            security: security.map { present[$0.owner] ?? $0 },
            route: route,
            proxySecurity: proxySecurity.map { present[$0.owner] ?? $0 },
            link: link,
            judge: judge
        )
    }

    /// The same, secured.
    func secured(by security: SecurityContext) -> ConnectionKey {
        ConnectionKey(
            endpoint: endpoint,
            unixPath: unixPath,
            security: security,
            route: route,
            proxySecurity: proxySecurity,
            link: link
        )
    }

    /// For packets of another kind, or by other networks.
    mutating func follow(_ link: LinkRules) {
        guard link != self.link else { return }
        self = ConnectionKey(
            endpoint: endpoint,
            unixPath: unixPath,
            security: security,
            route: route,
            proxySecurity: proxySecurity,
            link: link,
            judge: judge
        )
    }

    /// The same where somebody else decides about the server.
    func judged(by judge: TrustJudge) -> ConnectionKey {
        ConnectionKey(
            endpoint: endpoint,
            unixPath: unixPath,
            security: security,
            route: route,
            proxySecurity: proxySecurity,
            link: link,
            judge: judge
        )
    }

    /// Where to dial. Nil if the path is no possible socket address.
    var target: DialTarget? {
        if let unixPath { return SocketAddress(unixPath: unixPath).map(DialTarget.address) }
        return (route?.endpoint ?? endpoint).target
    }
}

extension Endpoint {
    /// Nil if its zone is none of this machine's.
    var target: DialTarget? {
        if let address = host.socketAddress { return .address(address.withPort(port)) }
        return host.kind == .name ? .name(host.connectName, port: port) : nil
    }
}

extension Endpoint.Host {
    /// Without a port. Nil for a name, or if its zone is none of this machine's.
    var socketAddress: SocketAddress? {
        switch kind {
        case .ipv4: SocketAddress(ipv4: text, port: 0)
        case .ipv6: SocketAddress(ipv6: text, zone: zone, port: 0)
        case .name: nil
        }
    }
}
