import CAFLinux
import Glibc

/// By which interface the kernel would send to an address.
package enum RouteAnswer: Sendable, Hashable {
    /// None: why, as an `errno`.
    case refused(Int32)
    case route(Route)

    /// Reads the answer to a question for one route. Nil if it is none, or is not whole.
    package init?(_ message: NetlinkMessage) {
        switch message.type {
        case Netlink.error:
            guard let code = message.payload.number(at: 0, as: Int32.self), code < 0, code > Int32.min else {
                return nil
            }
            self = .refused(-code)
        case Netlink.newRoute:
            guard let type = message.payload.number(at: 7, as: UInt8.self), message.payload.count >= 12 else {
                return nil
            }
            let attributes = NetlinkAttributes(message.payload.dropFirst(12))
            guard attributes.isWhole else { return nil }
            let interface = attributes[Netlink.RouteAttribute.interface]?.number(at: 0, as: Int32.self) ?? 0
            let source = attributes[Netlink.RouteAttribute.source].flatMap { SocketAddress(internetBytes: Array($0)) }
            let leads = type != 0 && type < Netlink.firstRefusal && interface > 0
            self =
                leads
                ? .route(Route(interface: interface, isLocal: type == Netlink.localRoute, source: source))
                : .refused(EHOSTUNREACH)
        default: return nil
        }
    }
}

package struct Route: Sendable, Hashable {
    /// The index of the interface.
    package var interface: Int32
    /// The address is one of this machine's own.
    package var isLocal: Bool
    /// What the kernel would send from. Nil if it has nothing.
    package var source: SocketAddress?

    package init(interface: Int32, isLocal: Bool = false, source: SocketAddress? = nil) {
        self.interface = interface
        self.isLocal = isLocal
        self.source = source
    }
}

extension SocketAddress {
    /// Whether the kernel would send there by a cellular network. False also if it does not say.
    var isReachedByCellular: Bool {
        guard isInternet else { return false }
        // Asking takes no lock that is ever held for long, as listing the interfaces would.
        if scope != 0 { return caf_is_cellular(Int32(truncatingIfNeeded: scope)) }
        guard case .success(.route(let route)) = KernelNetwork().route(to: self) else { return false }
        return caf_is_cellular(route.interface)
    }
}
