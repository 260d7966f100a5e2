import Glibc

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
