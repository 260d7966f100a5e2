/// The numbers of netlink that are used here (`linux/netlink.h`, `linux/rtnetlink.h`, `linux/if_link.h`).
package enum Netlink {
    // MARK: Flags of messages
    static let request: UInt16 = 0x1
    static let dump: UInt16 = 0x300
    /// The list changed while it was made.
    package static let dumpInterrupted: UInt16 = 0x10

    // MARK: Types of messages
    package static let error: UInt16 = 2
    package static let done: UInt16 = 3
    package static let overrun: UInt16 = 4
    package static let newLink: UInt16 = 16
    static let getLink: UInt16 = 18
    package static let newAddress: UInt16 = 20
    static let getAddress: UInt16 = 22
    package static let newRoute: UInt16 = 24
    static let getRoute: UInt16 = 26

    // MARK: Flags of links
    static let isUp: UInt32 = 0x1
    static let isRunning: UInt32 = 0x40

    enum LinkAttribute {
        static let name: UInt16 = 3
        static let details: UInt16 = 18
        /// Within the details.
        static let kind: UInt16 = 1
    }

    enum AddressAttribute {
        static let address: UInt16 = 1
        static let local: UInt16 = 2
        static let flags: UInt16 = 8
    }

    enum RouteAttribute {
        static let destination: UInt16 = 1
        static let interface: UInt16 = 4
        static let source: UInt16 = 7
    }

    // MARK: Types of routes
    static let localRoute: UInt8 = 2
    /// From here on they are ways to refuse: blackhole, unreachable, prohibit, …
    static let firstRefusal: UInt8 = 6
}

/// Questions to the kernel, as bytes.
enum NetlinkRequest {
    /// All links.
    static func links(_ sequence: UInt32) -> [UInt8] {
        // ifinfomsg, all zero but its family, which is unspecified and therefore zero too.
        message(Netlink.getLink, flags: Netlink.dump, sequence: sequence, body: [UInt8](repeating: 0, count: 16))
    }

    /// All addresses of all links.
    static func addresses(_ sequence: UInt32) -> [UInt8] {
        message(Netlink.getAddress, flags: Netlink.dump, sequence: sequence, body: [UInt8](repeating: 0, count: 8))
    }

    /// By which interface the kernel would send to an address. Nil for what is no address of the internet.
    static func route(to address: SocketAddress, sequence: UInt32) -> [UInt8]? {
        guard let bytes = address.internetBytes else { return nil }
        var body = [UInt8](repeating: 0, count: 12)
        body[0] = UInt8(truncatingIfNeeded: address.family)
        body[1] = UInt8(bytes.count * 8)
        body += attribute(Netlink.RouteAttribute.destination, value: bytes)
        // Every interface has its own fe80::/10: only the zone tells which one is meant.
        if address.scope != 0 { body += attribute(Netlink.RouteAttribute.interface, value: address.scope.bytes) }
        return message(Netlink.getRoute, flags: 0, sequence: sequence, body: body)
    }

    private static func message(_ type: UInt16, flags: UInt16, sequence: UInt32, body: [UInt8]) -> [UInt8] {
        // The last number is the sender's, which the kernel fills in by itself.
        var bytes = UInt32(16 + body.count).bytes
        bytes += type.bytes
        bytes += (flags | Netlink.request).bytes
        bytes += sequence.bytes
        bytes += UInt32(0).bytes
        return bytes + body
    }

    /// Of four bytes or a multiple: nothing has to be filled up.
    private static func attribute(_ type: UInt16, value: [UInt8]) -> [UInt8] {
        UInt16(4 + value.count).bytes + type.bytes + value
    }
}

extension FixedWidthInteger {
    /// In the byte order of this machine.
    var bytes: [UInt8] { withUnsafeBytes(of: self) { Array($0) } }
}
