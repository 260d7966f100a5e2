package import AFLoop
package import AFWire

/// What two requests must have in common to share a connection. Compared by value, every field: all that influences
/// which peer is at the other end, or who has accepted it, belongs in here.
package struct ConnectionKey: Hashable {
    package private(set) var endpoint: Endpoint
    /// The rules a secured connection is made under; nil for one in the clear.
    package private(set) var security: SecurityContext?
    /// Nil without options: keys are copied often, and most are of this kind.
    private var shared: SharedOptions?

    /// What most connections do without. The compiler makes comparing, hashing and copying, so a field that is added
    /// here is in all three.
    package struct Options: Hashable {
        /// The session's Unix-domain socket, which takes the place of host and port.
        package var unixPath: String?
        /// The proxy on the way, with our credentials for it. Nil: there is none.
        package var route: ProxyRoute?
        /// The rules a secured connection to the proxy is made under.
        package var proxySecurity: SecurityContext?
        /// How its packets are marked, and which networks it may take.
        package var link: LinkTerms
        /// Who answers challenges of trust and identity in place of the session's delegate.
        package var judge: TrustJudge?

        package init(
            unixPath: String? = nil,
            route: ProxyRoute? = nil,
            proxySecurity: SecurityContext? = nil,
            link: LinkTerms = LinkTerms(),
            judge: TrustJudge?
        ) {
            self.unixPath = unixPath
            self.route = route
            self.proxySecurity = proxySecurity
            self.link = link
            self.judge = judge
        }

        package static var usual: Options { Options(judge: nil) }
    }

    private final class SharedOptions: Hashable {
        let options: Options

        init(_ options: Options) {
            self.options = options
        }

        static func == (one: SharedOptions, other: SharedOptions) -> Bool {
            one === other || one.options == other.options
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(options)
        }
    }

    package init(endpoint: Endpoint, security: SecurityContext?) {
        self.endpoint = endpoint
        self.security = security
    }

    package init(endpoint: Endpoint, security: SecurityContext?, options: Options) {
        self.init(endpoint: endpoint, security: security)
        self.options = options
    }

    package private(set) var options: Options {
        get { shared?.options ?? .usual }
        set { shared = newValue == .usual ? nil : SharedOptions(newValue) }
    }

    package var unixPath: String? { shared?.options.unixPath }
    package var route: ProxyRoute? { shared?.options.route }
    package var proxySecurity: SecurityContext? { shared?.options.proxySecurity }
    package var link: LinkTerms { shared?.options.link ?? LinkTerms() }
    package var judge: TrustJudge? { shared?.options.judge }

    package func isMade(under security: SecurityContext) -> Bool {
        self.security == security || proxySecurity == security
    }

    // MARK: - Others like it
    //
    // Each is a copy with one change, so that no field is left out by mistake.

    private func copy(_ change: (inout ConnectionKey) -> Void) -> ConnectionKey {
        var copy = self
        change(&copy)
        return copy
    }

    private func copy(options change: (inout Options) -> Void) -> ConnectionKey {
        var options = options
        change(&options)
        return copy { $0.options = options }
    }

    /// The same place by the same way, without the rules. The rules keep what belongs to them under this key: a key
    /// with the rules in it would make them hold themselves.
    package var place: ConnectionKey {
        let free = copy { $0.security = nil }
        return proxySecurity == nil ? free : free.copy(options: { $0.proxySecurity = nil })
    }

    /// The key of a connection to the proxy itself. The handshake asks no delegate about a proxy.
    package var proxyKey: ConnectionKey? {
        guard let route else { return nil }
        let end = copy { key in
            key.endpoint = route.endpoint
            key.security = proxySecurity
        }
        return end.copy(options: { options in
            options.unixPath = nil
            options.route = nil
            options.proxySecurity = nil
            options.judge = nil
        })
    }

    /// The same under the rules that hold now. `present` has them by owner.
    package func renewed(under present: [Int: SecurityContext]) -> ConnectionKey {
        let renewed = copy { $0.security = security.map { present[$0.owner] ?? $0 } }
        guard let proxySecurity else { return renewed }
        return renewed.copy(options: { $0.proxySecurity = present[proxySecurity.owner] ?? proxySecurity })
    }

    /// The same, secured. Nil: in the clear.
    package func secured(by security: SecurityContext?) -> ConnectionKey { copy { $0.security = security } }

    /// The same by another route, for example with other credentials.
    package func led(by route: ProxyRoute) -> ConnectionKey { copy(options: { $0.route = route }) }

    /// Takes over how packets are marked and which networks they may take.
    package mutating func follow(_ link: LinkTerms) {
        if link != self.link { self = copy(options: { $0.link = link }) }
    }

    /// The same with another judge of trust and identity. Nil: the session's delegate.
    package func judged(by judge: TrustJudge?) -> ConnectionKey {
        judge == self.judge ? self : copy(options: { $0.judge = judge })
    }

    /// Where to dial. Nil if the path is no possible socket address.
    package var target: DialTarget? {
        if let unixPath { return SocketAddress(unixPath: unixPath).map(DialTarget.address) }
        return (route?.endpoint ?? endpoint).target
    }
}

extension Endpoint {
    /// Nil if the address has a zone that this machine does not have.
    package var target: DialTarget? {
        if let address = host.socketAddress { return .address(address.withPort(port)) }
        return host.kind == .name ? .name(host.connectName, port: port) : nil
    }
}

extension [Endpoint] {
    /// One place, or the addresses of several. Nil if none of them can be dialled.
    var target: DialTarget? {
        if count == 1 { return self[0].target }
        let addresses = compactMap { $0.host.socketAddress?.withPort($0.port) }
        return addresses.isEmpty ? nil : .addresses(addresses)
    }
}

extension Endpoint.Host {
    /// Without a port. Nil for a name, or if the address has a zone that this machine does not have.
    package var socketAddress: SocketAddress? {
        switch kind {
        case .ipv4: SocketAddress(ipv4: text, port: 0)
        case .ipv6: SocketAddress(ipv6: text, zone: zone, port: 0)
        case .name: nil
        }
    }

    /// The address as a proxy is told it. Nil for a name.
    var unzonedAddress: SocketAddress? {
        kind == .ipv6 ? SocketAddress(ipv6: text, zone: nil, port: 0) : socketAddress
    }
}
