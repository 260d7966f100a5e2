import AFLoop

/// An interface of this machine, as it was at one moment.
public struct NetworkInterface: Sendable, Hashable {
    /// What is behind an interface.
    public struct Kind: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// A word for it.
        public let rawValue: String

        /// A kind by its word.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// This machine itself.
        public static let loopback = Kind(rawValue: "loopback")
        /// Ethernet; also where it is only the end of a cable of software, as in a container or a virtual machine.
        public static let wired = Kind(rawValue: "wired")
        /// A wireless local network.
        public static let wifi = Kind(rawValue: "wifi")
        /// A modem for a cellular network.
        public static let cellular = Kind(rawValue: "cellular")
        /// A tunnel, or anything else that has neither a wire nor a radio of its own. What carries it is not known.
        public static let virtual = Kind(rawValue: "virtual")

        /// The word.
        public var description: String { rawValue }
    }

    /// The kernel's number for it. It may belong to another interface once this one is gone.
    public let index: Int
    /// Its name, as in `eth0`.
    public let name: String
    /// What is behind it.
    public let kind: Kind
    /// Whether it is switched on. That does not mean that there is anything at its other end: see ``isRunning``.
    public let isUp: Bool
    /// Whether packets can leave by it: it is switched on, and has a carrier.
    public let isRunning: Bool
    /// Those of its addresses that may be used. Not those of which it is still, or already, known that another machine
    /// has them.
    public let addresses: [NetworkAddress]
}

extension NetworkInterface {
    init(_ state: InterfaceState) {
        self.init(
            index: Int(state.index),
            name: state.name,
            kind: Kind(state.kind),
            isUp: state.isUp,
            isRunning: state.isRunning,
            addresses: state.addresses.compactMap(NetworkAddress.init)
        )
    }
}

extension NetworkInterface.Kind {
    init(_ kind: InterfaceKind) {
        self =
            switch kind {
            case .loopback: .loopback
            case .wired: .wired
            case .wifi: .wifi
            case .cellular: .cellular
            case .virtual: .virtual
            }
    }
}
