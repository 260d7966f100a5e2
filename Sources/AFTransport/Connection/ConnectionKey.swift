package import AFLoop
package import AFWire

/// What two requests must have in common to share a connection. Compared by value,
/// every field; whatever influences who is at the other end, or who has accepted it, belongs in here.
package struct ConnectionKey: Hashable {
    package private(set) var endpoint: Endpoint
    /// The rules a secured connection is made under; nil for one in the clear.
    package private(set) var security: SecurityContext?
    /// Nil for the straight way: keys are handed on often, and most are of this kind.
    private var detour: Detour?

    /// What most connections have nothing of. Comparing, hashing and copying are the compiler's: a field that is added
    /// here is in all three.
    package struct Way: Hashable {
        /// The session's Unix-domain socket, which takes the place of host and port.
        package var unixPath: String?
        /// The proxy on the way, with what it knows us by. Nil: there is none.
        package var route: ProxyRoute?
        /// The rules a secured connection to the proxy is made under.
        package var proxySecurity: SecurityContext?
        /// How its packets are marked, and which networks it may take.
        package var link: SocketOptions
        /// Who answers challenges of trust and identity in place of the session's delegate.
        package var judge: TrustJudge?

        package init(
            unixPath: String? = nil,
            route: ProxyRoute? = nil,
            proxySecurity: SecurityContext? = nil,
            link: SocketOptions = SocketOptions(),
            judge: TrustJudge? = nil
        ) {
            self.unixPath = unixPath
            self.route = route
            self.proxySecurity = proxySecurity
            self.link = link
            self.judge = judge
        }

        package static var straight: Way { Way() }
    }

    private final class Detour: Hashable {
        let way: Way

        init(_ way: Way) {
            self.way = way
        }

        static func == (one: Detour, other: Detour) -> Bool { one === other || one.way == other.way }

        func hash(into hasher: inout Hasher) {
            hasher.combine(way)
        }
    }

    package init(endpoint: Endpoint, security: SecurityContext?) {
        self.endpoint = endpoint
        self.security = security
    }

    package init(endpoint: Endpoint, security: SecurityContext?, way: Way) {
        self.init(endpoint: endpoint, security: security)
        self.way = way
    }

    package private(set) var way: Way {
        get { detour?.way ?? .straight }
        set { detour = newValue == .straight ? nil : Detour(newValue) }
    }

    package var unixPath: String? { detour?.way.unixPath }
    package var route: ProxyRoute? { detour?.way.route }
    package var proxySecurity: SecurityContext? { detour?.way.proxySecurity }
    package var link: SocketOptions { detour?.way.link ?? SocketOptions() }
    package var judge: TrustJudge? { detour?.way.judge }

    package func isMade(under security: SecurityContext) -> Bool {
        self.security == security || proxySecurity == security
    }

    // MARK: - Others like it
    //
    // Each is a copy, of which something is changed: nothing is left out by mistake.

    private func copy(_ change: (inout ConnectionKey) -> Void) -> ConnectionKey {
        var copy = self
        change(&copy)
        return copy
    }

    private func copy(way change: (inout Way) -> Void) -> ConnectionKey {
        var way = way
        change(&way)
        return copy { $0.way = way }
    }

    /// The same place by the same way, whatever the rules. For what belongs to the rules
    /// and must not hold them.
    package var place: ConnectionKey {
        let free = copy { $0.security = nil }
        return proxySecurity == nil ? free : free.copy(way: { $0.proxySecurity = nil })
    }

    /// The proxy, as the other end of a connection of its own. No delegate is asked about it.
    package var proxyKey: ConnectionKey? {
        guard let route else { return nil }
        let end = copy { key in
            key.endpoint = route.endpoint
            key.security = proxySecurity
        }
        return end.copy(way: { way in
            way.unixPath = nil
            way.route = nil
            way.proxySecurity = nil
            way.judge = nil
        })
    }

    /// The same under the rules that hold now, which are found by whose they are.
    package func renewed(under present: [Int: SecurityContext]) -> ConnectionKey {
        let renewed = copy { $0.security = security.map { present[$0.owner] ?? $0 } }
        guard let proxySecurity else { return renewed }
        return renewed.copy(way: { $0.proxySecurity = present[proxySecurity.owner] ?? proxySecurity })
    }

    /// The same, secured. Nil: in the clear.
    package func secured(by security: SecurityContext?) -> ConnectionKey { copy { $0.security = security } }

    /// The same, led by the proxy in another way.
    package func led(by route: ProxyRoute) -> ConnectionKey { copy(way: { $0.route = route }) }

    /// For packets of another kind, or by other networks.
    package mutating func follow(_ link: SocketOptions) {
        if link != self.link { self = copy(way: { $0.link = link }) }
    }

    /// The same where others answer challenges of trust and identity. Nil: the session's delegate.
    package func judged(by judge: TrustJudge?) -> ConnectionKey {
        judge == self.judge ? self : copy(way: { $0.judge = judge })
    }

    /// Where to dial. Nil if the path is no possible socket address.
    package var target: DialTarget? {
        if let unixPath { return SocketAddress(unixPath: unixPath).map(DialTarget.address) }
        return (route?.endpoint ?? endpoint).target
    }
}

extension Endpoint {
    /// Nil if its zone is none of this machine's.
    package var target: DialTarget? {
        if let address = host.socketAddress { return .address(address.withPort(port)) }
        return host.kind == .name ? .name(host.connectName, port: port) : nil
    }
}

extension Endpoint.Host {
    /// Without a port. Nil for a name, or if its zone is none of this machine's.
    package var socketAddress: SocketAddress? {
        switch kind {
        case .ipv4: SocketAddress(ipv4: text, port: 0)
        case .ipv6: SocketAddress(ipv6: text, zone: zone, port: 0)
        case .name: nil
        }
    }
}
