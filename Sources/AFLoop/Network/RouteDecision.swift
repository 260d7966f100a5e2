import AFBase
import Glibc

/// Whether packets to an address leave this machine, or reach a server on it. A decision from its arguments:
///
/// | the kernel's route | the interface | it would send from | |
/// |---|---|---|---|
/// | none, or one that refuses | – | – | closed |
/// | any | is down, or has no carrier | – | closed |
/// | to a loopback address | is not the loopback interface | – | closed |
/// | to an address of this machine | runs | – | open |
/// | any other | is the loopback interface | – | closed |
/// | any other | runs | nothing | closed |
/// | to a link-local address | runs | anything | open |
/// | any other | runs | a link-local address | closed |
/// | any other | runs | any other | open |
///
/// Metrics, rules, and which addresses are preferred, tentative or deprecated, are the kernel's: it has taken them into
/// account when it says by which interface and from which address it would send.
package enum RouteDecision: Sendable, Hashable {
    case open(InterfaceState)
    case closed(Obstacle)

    package enum Obstacle: Sendable, Hashable {
        /// With an `errno`.
        case noRoute(Int32)
        case interfaceIsDown(String)
        case noCarrier(String)
        case noAddress(String)
        case onlyLinkLocalAddress(String)
        /// To one of this machine's, whose interface for that is down.
        case loopbackIsDown
        /// The route ends on this machine, the address does not.
        case endsHere(String)
    }

    package init(to address: SocketAddress, by answer: RouteAnswer?, in reading: NetworkReading) {
        switch answer {
        case nil: self = .closed(.noRoute(ENETUNREACH))
        case .refused(let code): self = .closed(.noRoute(code))
        case .route(let route):
            guard let interface = reading.interface(route.interface) else {
                self = .closed(.noRoute(ENODEV))
                return
            }
            self =
                RouteDecision.obstacle(for: address, route: route, interface: interface).map(RouteDecision.closed)
                ?? .open(interface)
        }
    }

    private static func obstacle(for address: SocketAddress, route: Route, interface: InterfaceState) -> Obstacle? {
        // Without the loopback interface the kernel would send what is meant for it to a router.
        if address.isLoopback, interface.kind != .loopback { return .loopbackIsDown }
        if !interface.isUp { return .interfaceIsDown(interface.name) }
        if !interface.isRunning { return .noCarrier(interface.name) }
        if address.isLoopback || route.isLocal { return nil }
        if interface.kind == .loopback { return .endsHere(interface.name) }
        guard let source = route.source else { return .noAddress(interface.name) }
        let leavesLink = !address.isLinkLocal
        return leavesLink && source.isLinkLocal ? .onlyLinkLocalAddress(interface.name) : nil
    }
}

extension RouteDecision.Obstacle: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noRoute(let code): "there is no route (\(SystemCallError.text(of: code)), errno \(code))"
        case .interfaceIsDown(let name): "interface \(name) is down"
        case .noCarrier(let name): "interface \(name) has no carrier"
        case .noAddress(let name): "interface \(name) has no address to send from"
        case .onlyLinkLocalAddress(let name): "interface \(name) has a link-local address only"
        case .loopbackIsDown: "the loopback interface is down"
        case .endsHere(let name): "its route ends at interface \(name) of this machine"
        }
    }
}

extension SocketAddress {
    /// 127.0.0.0/8 and ::1.
    package var isLoopback: Bool {
        guard let bytes = internetBytes else { return false }
        return bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    /// 169.254.0.0/16 and fe80::/10, which no router passes on.
    package var isLinkLocal: Bool {
        guard let bytes = internetBytes else { return false }
        return bytes.count == 4 ? bytes[0] == 169 && bytes[1] == 254 : bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
    }

    /// 0.0.0.0 and ::.
    package var isUnspecified: Bool { internetBytes?.allSatisfy { $0 == 0 } ?? false }

    /// An address of IPv4, if it is one in the clothes of IPv6 (::ffff:0:0/96); otherwise itself.
    package var unmapped: SocketAddress {
        guard let bytes = internetBytes, case .mapped(let host)? = ReachedIPv4(bytes) else { return self }
        return SocketAddress(internetBytes: host, port: port ?? 0) ?? self
    }
}
