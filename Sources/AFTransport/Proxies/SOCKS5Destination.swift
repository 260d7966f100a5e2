package import AFLoop
package import AFWire

/// Where a SOCKS proxy is to connect.
package enum SOCKS5Destination: Hashable, Sendable {
    case ipv4([UInt8])
    case ipv6([UInt8])
    /// At most 254 bytes, with the dot of an absolute name.
    case name([UInt8])

    /// As the URL names it.
    package init(_ host: Endpoint.Host) {
        self =
            host.address.map { SOCKS5Destination($0, isIPv4: host.kind == .ipv4) }
            ?? .name(Array(host.connectName.utf8))
    }

    /// An address of the server's name. Nil if it is no address of the internet.
    package init?(_ address: SocketAddress) {
        let isIPv4 = !address.isIPv6
        let text = isIPv4 ? "::ffff:\(address.host)" : address.host
        guard let found = text.withUTF8Bytes({ IPAddressSyntax.ipv6($0) }) else { return nil }
        self.init(found, isIPv4: isIPv4)
    }

    private init(_ address: IPAddressSyntax.IPv6, isIPv4: Bool) {
        let bytes = address.groups.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        self = isIPv4 ? .ipv4(Array(bytes.suffix(4))) : .ipv6(bytes)
    }

    /// Type and address as they are sent.
    package var bytes: [UInt8] {
        switch self {
        case .ipv4(let address): [1] + address
        case .name(let name): [3, UInt8(truncatingIfNeeded: name.count)] + name
        case .ipv6(let address): [4] + address
        }
    }
}
