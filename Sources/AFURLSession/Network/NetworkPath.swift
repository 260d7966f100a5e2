import AFLoop

/// The state of the network at one moment: of this machine, and of its route to a host or address.
///
/// It says what this machine knows by itself. The monitor sends nothing to find out, so `satisfied` does not mean that
/// the host answers. Do not ask it whether you may send a request: send it. Use it to try again when the network
/// returns, or to explain a failure.
public struct NetworkPath: Sendable, Hashable {
    /// Whether there is a route.
    @nonexhaustive
    public enum Status: Sendable, Hashable {
        /// Not known: see ``NetworkPath/reason``.
        case unknown
        /// There is no route.
        case unsatisfied
        /// There is a route.
        case satisfied
    }

    /// Whether there is a route: to the host or address of the monitor; for the whole machine, to the internet by
    /// either address family.
    public let status: Status

    /// The interface by which packets leave this machine, if there is a route.
    ///
    /// If the two address families use different interfaces, one that is not cellular. For a host with several
    /// addresses, the interface of the first address that has a route.
    public let interface: NetworkInterface?

    /// Whether the machine has a route to far addresses of IPv4.
    public let hasIPv4DefaultRoute: Bool

    /// Whether the machine has a route to far addresses of IPv6.
    public let hasIPv6DefaultRoute: Bool

    /// All interfaces of the machine, whatever their state.
    public let interfaces: [NetworkInterface]

    /// Why the status is not `satisfied`.
    public let reason: String?

    /// Whether packets leave by a cellular modem.
    public var isCellular: Bool { interface?.kind == .cellular }
}
