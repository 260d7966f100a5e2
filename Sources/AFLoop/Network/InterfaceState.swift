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

/// An `RTM_NEWLINK`.
package struct LinkMessage: Hashable {
    package let index: Int32
    package let name: String
    package let hardware: UInt16
    package let kind: String?
    package let flags: UInt32

    /// Nil if it is none, or is not whole.
    package init?(_ message: NetlinkMessage) {
        guard message.type == Netlink.newLink,
            let hardware = message.payload.number(at: 2, as: UInt16.self),
            let index = message.payload.number(at: 4, as: Int32.self), index > 0,
            let flags = message.payload.number(at: 8, as: UInt32.self), message.payload.count >= 16
        else { return nil }
        let attributes = NetlinkAttributes(message.payload.dropFirst(16))
        guard attributes.isWhole, let name = attributes.text(Netlink.LinkAttribute.name), !name.isEmpty else {
            return nil
        }
        self.index = index
        self.name = name
        self.hardware = hardware
        self.flags = flags
        kind = attributes[Netlink.LinkAttribute.details].flatMap {
            NetlinkAttributes($0).text(Netlink.LinkAttribute.kind)
        }
    }

    var isUp: Bool { flags & Netlink.isUp != 0 }
    var isRunning: Bool { isUp && flags & Netlink.isRunning != 0 }
}

/// An `RTM_NEWADDR`.
package struct AddressMessage: Hashable {
    /// It may turn out that another machine has it, or has turned out already.
    private static let unusable: UInt32 = 0x40 | 0x08

    package let interface: Int32
    package let address: SocketAddress
    package let flags: UInt32

    /// There are addresses of other kinds of networks too.
    static func isOfInternet(_ message: NetlinkMessage) -> Bool {
        let family = message.payload.first.map(Int32.init)
        return family == nil || family == AF_INET || family == AF_INET6
    }

    /// Nil if it is none, is not whole, or is about something else than the internet.
    package init?(_ message: NetlinkMessage) {
        guard message.type == Netlink.newAddress,
            let fewFlags = message.payload.number(at: 2, as: UInt8.self),
            let index = message.payload.number(at: 4, as: UInt32.self), let interface = Int32(exactly: index)
        else { return nil }
        let attributes = NetlinkAttributes(message.payload.dropFirst(8))
        // Of an interface between two points the other one has the first of them too.
        let bytes = attributes[Netlink.AddressAttribute.local] ?? attributes[Netlink.AddressAttribute.address]
        guard attributes.isWhole, let bytes, let address = SocketAddress(internetBytes: Array(bytes)) else {
            return nil
        }
        self.interface = interface
        self.address = address
        flags = attributes[Netlink.AddressAttribute.flags]?.number(at: 0, as: UInt32.self) ?? UInt32(fewFlags)
    }

    /// Whether anything may be sent from it. A deprecated one still may.
    package var isUsable: Bool { flags & AddressMessage.unusable == 0 }
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
