import AFBase

/// Which addresses belong to the public internet, by the registries of special-purpose addresses (RFC 6890 and what
/// came after it).
package enum AddressScope {
    private struct Block {
        let bytes: [UInt8]
        let bits: Int

        func contains(_ address: [UInt8]) -> Bool {
            let whole = bits / 8
            guard address.starts(with: bytes.prefix(whole)) else { return false }
            let rest = bits % 8
            return rest == 0 || (address[whole] ^ bytes[whole]) >> (8 - rest) == 0
        }
    }

    private static let special4 = [
        Block(bytes: [0], bits: 8), Block(bytes: [10], bits: 8), Block(bytes: [100, 64], bits: 10),
        Block(bytes: [127], bits: 8),
        Block(bytes: [169, 254], bits: 16),
        Block(bytes: [172, 16], bits: 12), Block(bytes: [192, 0, 0], bits: 24), Block(bytes: [192, 0, 2], bits: 24),
        Block(bytes: [192, 88, 99], bits: 24),
        Block(bytes: [192, 168], bits: 16), Block(bytes: [198, 18], bits: 15), Block(bytes: [198, 51, 100], bits: 24),
        Block(bytes: [203, 0, 113], bits: 24),
        Block(bytes: [224], bits: 4), Block(bytes: [240], bits: 4),
    ]

    /// All public addresses that were ever given out are in this block…
    private static let global6 = Block(bytes: [0x20], bits: 3)

    /// …and these parts of it are not public: protocols and their tunnels, benchmarks, documentation.
    private static let special6 = [
        Block(bytes: [0x20, 0x01, 0x00], bits: 23), Block(bytes: [0x20, 0x01, 0x0D, 0xB8], bits: 32),
        Block(bytes: [0x3F, 0xFF, 0x00], bits: 20),
    ]

    /// Networks behind routers of IPv4 (6to4). The address of the router follows.
    private static let routed6 = Block(bytes: [0x20, 0x02], bits: 16)

    /// - Parameter address: In network order, 4 or 16 bytes.
    package static func isPublic(_ address: [UInt8]) -> Bool {
        if address.count == 4 { return !special4.contains { $0.contains(address) } }
        guard address.count == 16 else { return false }
        switch ReachedIPv4(address) {
        case .mapped(let host)?, .translated(let host)?: return isPublic(host)
        case nil: if routed6.contains(address) { return isPublic(Array(address[2..<6])) }
        }
        return global6.contains(address) && !special6.contains { $0.contains(address) }
    }
}
