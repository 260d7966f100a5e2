import AFLoop

/// What there is of a network at one moment: on this machine, and as far as a host or an address is concerned.
///
/// It says what this machine knows by itself. Nothing is sent to find out, so `satisfied` does not mean that anybody
/// answers. Do not ask it whether a request may be sent: send it. Use it to try again when the network returns, or to
/// explain a failure.
public struct NetworkPath: Sendable, Hashable {
    /// Whether there is a way.
    public enum Status: Sendable, Hashable {
        /// Not known: see ``NetworkPath/reason``.
        case unknown
        /// There is none.
        case unsatisfied
        /// There is one.
        case satisfied
    }

    /// Whether there is a way: to the host or address asked about; for the whole machine, to the internet by either
    /// family of addresses.
    public let status: Status

    /// The interface by which packets leave this machine, if there is a way.
    ///
    /// If those of the two families of addresses leave the machine by different ones, one that is not cellular. For a
    /// host with several addresses, that of the first of them to which there is a way.
    public let interface: NetworkInterface?

    /// Whether the machine has a way to far addresses of IPv4.
    public let hasIPv4DefaultRoute: Bool

    /// Whether the machine has a way to far addresses of IPv6.
    public let hasIPv6DefaultRoute: Bool

    /// All interfaces of the machine, whatever their state.
    public let interfaces: [NetworkInterface]

    /// Why the status is not `satisfied`.
    public let reason: String?

    /// Whether packets leave by a cellular modem.
    public var isCellular: Bool { interface?.kind == .cellular }
}
