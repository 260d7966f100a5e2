/// The messages of one datagram of netlink, as far as they can be read (RFC 3549 §2.2).
///
/// Numbers are in the byte order of this machine. Nothing that arrives is believed: a length that leads past the end, or
/// not past its own header, ends the reading, and ``isWhole`` says so.
package struct NetlinkDatagram {
    private static let headerSize = 16

    package let messages: [NetlinkMessage]
    /// Whether everything in it could be read.
    package let isWhole: Bool

    package init(_ bytes: ArraySlice<UInt8>) {
        var messages: [NetlinkMessage] = []
        var rest = bytes
        while let (message, length) = NetlinkDatagram.first(in: rest) {
            messages.append(message)
            rest = rest.dropFirst(NetlinkDatagram.aligned(length))
        }
        self.messages = messages
        isWhole = rest.isEmpty
    }

    private static func first(in bytes: ArraySlice<UInt8>) -> (NetlinkMessage, Int)? {
        guard let length = bytes.number(at: 0, as: UInt32.self).map({ Int($0) }),
            let type = bytes.number(at: 4, as: UInt16.self), let flags = bytes.number(at: 6, as: UInt16.self),
            let sequence = bytes.number(at: 8, as: UInt32.self),
            length >= headerSize, length <= bytes.count
        else { return nil }
        let payload = bytes.prefix(length).dropFirst(headerSize)
        return (NetlinkMessage(type: type, flags: flags, sequence: sequence, payload: payload), length)
    }

    static func aligned(_ length: Int) -> Int { (length + 3) & ~3 }
}

/// One message without its header.
package struct NetlinkMessage {
    package let type: UInt16
    package let flags: UInt16
    package let sequence: UInt32
    package let payload: ArraySlice<UInt8>
}

extension ArraySlice<UInt8> {
    /// Nil if the bytes end before it does.
    func number<Number: FixedWidthInteger>(at offset: Int, as: Number.Type) -> Number? {
        guard count - offset >= MemoryLayout<Number>.size else { return nil }
        return withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Number.self) }
    }
}
