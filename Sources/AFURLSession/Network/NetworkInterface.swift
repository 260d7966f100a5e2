import AFLoop

/// An interface of this machine, as it was at one moment.
public struct NetworkInterface: Sendable, Hashable {
    /// The kind of link behind an interface.
    public struct Kind: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// The word for it.
        public let rawValue: String

        /// Makes a kind from its word.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// This machine itself.
        public static let loopback = Kind(rawValue: "loopback")
        /// Ethernet; also a virtual cable, as in a container or a virtual machine.
        public static let wired = Kind(rawValue: "wired")
        /// A wireless local network.
        public static let wifi = Kind(rawValue: "wifi")
        /// A modem for a cellular network.
        public static let cellular = Kind(rawValue: "cellular")
        /// A tunnel, or any other interface without a wire or a radio of its own. The kernel does not tell what carries
        /// it.
        public static let virtual = Kind(rawValue: "virtual")

        /// The word.
        public var description: String { rawValue }
    }

    /// The kernel's number for it. The kernel may give it to another interface once this one is gone.
    public let index: Int
    /// Its name, as in `eth0`.
    public let name: String
    /// The kind of link behind it.
    public let kind: Kind
    /// Whether it is switched on. That does not mean that its link works: see ``isRunning``.
    public let isUp: Bool
    /// Whether packets can leave by it: it is switched on, and has a carrier.
    public let isRunning: Bool
    /// The addresses of this interface that the machine may use. Those that duplicate address detection has not
    /// finished with, or has found on another machine, are left out.
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
