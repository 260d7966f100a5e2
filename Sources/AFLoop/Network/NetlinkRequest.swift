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
