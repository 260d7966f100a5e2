import Glibc

/// An interface of this machine at one moment.
package struct InterfaceState: Sendable, Hashable {
    package var index: Int32
    package var name: String
    package var kind: InterfaceKind
    /// The administrator has switched it on (`IFF_UP`).
    package var isUp: Bool
    /// And packets can leave by it: it has a carrier, and the network has admitted it (802.1X, for example).
    package var isRunning: Bool
    /// Those it may send from, in the kernel's order.
    package var addresses: [SocketAddress]

    package init(
        index: Int32,
        name: String,
        kind: InterfaceKind,
        isUp: Bool = true,
        isRunning: Bool = true,
        addresses: [SocketAddress] = []
    ) {
        self.index = index
        self.name = name
        self.kind = kind
        self.isUp = isUp
        self.isRunning = isRunning
        self.addresses = addresses
    }
}

/// What is behind an interface, as far as that can be known.
package enum InterfaceKind: Sendable, Hashable {
    case loopback
    /// Ethernet, or what leads to it.
    case wired
    case wifi
    case cellular
    /// Tunnels, and whatever has neither a wire nor a radio of its own.
    case virtual

    /// What links of Ethernet call themselves that lead on to a wire, a switch or the machine they are on.
    private static let wiredLinks: Set<String> = [
        "bond", "bridge", "dsa", "hsr", "ipoib", "ipvlan", "macsec", "macvlan", "netvsc", "team", "veth", "vlan",
    ]
    private static let cellularLinks: Set<String> = ["rmnet", "wwan"]

    private enum Hardware {
        static let ethernet: UInt16 = 1
        static let infiniband: UInt16 = 32
        static let ppp: UInt16 = 512
        static let rawIP: UInt16 = 519
        static let loopback: UInt16 = 772
        /// 802.11, as it is or with headers of its own.
        static let wireless: ClosedRange<UInt16> = 801...803
        static let none: UInt16 = 65534
    }

    /// - Parameters:
    ///   - hardware: The type of its addresses (`ARPHRD_…`).
    ///   - link: What made it, if that was software: `veth`, `tun`, …
    ///   - facts: What its driver says of it.
    package init(hardware: UInt16, link: String?, name: String, facts: InterfaceFacts) {
        if hardware == Hardware.loopback {
            self = .loopback
        } else if InterfaceKind.isCellular(hardware, link: link, name: name, facts: facts) {
            self = .cellular
        } else if facts.isWireless || Hardware.wireless.contains(hardware) || link == "virt_wifi" {
            self = .wifi
        } else if hardware == Hardware.infiniband {
            self = .wired
        } else {
            let isWire = hardware == Hardware.ethernet && link.map(InterfaceKind.wiredLinks.contains) ?? true
            self = isWire ? .wired : .virtual
        }
    }

    private static func isCellular(_ hardware: UInt16, link: String?, name: String, facts: InterfaceFacts) -> Bool {
        if facts.isCellular || hardware == Hardware.rawIP || link.map(cellularLinks.contains) == true { return true }
        // Modems that speak PPP or nothing at all, under the name the kernel gives them.
        return name.hasPrefix("wwan") && [Hardware.ppp, Hardware.none, Hardware.ethernet].contains(hardware)
    }
}

/// What the driver of an interface says of it.
package struct InterfaceFacts: Sendable, Hashable {
    package var isWireless: Bool
    package var isCellular: Bool

    package init(isWireless: Bool = false, isCellular: Bool = false) {
        self.isWireless = isWireless
        self.isCellular = isCellular
    }
}
