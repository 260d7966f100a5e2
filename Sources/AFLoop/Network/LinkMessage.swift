import Glibc

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
