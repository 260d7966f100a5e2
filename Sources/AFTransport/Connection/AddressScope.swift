/// Which addresses belong to the public internet, by the registries of special-purpose addresses (RFC 6890 and what
/// came after it).
package enum AddressScope {
    private struct Block {
        let bytes: [UInt8]
        let bits: Int

        init(_ bytes: [UInt8], _ bits: Int) {
            self.bytes = bytes
            self.bits = bits
        }

        func contains(_ address: [UInt8]) -> Bool {
            let whole = bits / 8
            guard address.starts(with: bytes.prefix(whole)) else { return false }
            let rest = bits % 8
            return rest == 0 || (address[whole] ^ bytes[whole]) >> (8 - rest) == 0
        }
    }

    private static let special4 = [
        Block([0], 8), Block([10], 8), Block([100, 64], 10), Block([127], 8), Block([169, 254], 16),
        Block([172, 16], 12), Block([192, 0, 0], 24), Block([192, 0, 2], 24), Block([192, 88, 99], 24),
        Block([192, 168], 16), Block([198, 18], 15), Block([198, 51, 100], 24), Block([203, 0, 113], 24),
        Block([224], 4), Block([240], 4),
    ]

    /// All public addresses that were ever given out are in this block…
    private static let global6 = Block([0x20], 3)

    /// …and these parts of it are not public: protocols and their tunnels, benchmarks, documentation.
    private static let special6 = [
        Block([0x20, 0x01, 0x00], 23), Block([0x20, 0x01, 0x0D, 0xB8], 32), Block([0x3F, 0xFF, 0x00], 20),
    ]

    /// The prefixes of IPv6 addresses that wrap an IPv4 address, and where that begins.
    private static let wrappers: [(block: Block, offset: Int)] = [
        (Block([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], 96), 12),
        (Block([0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0], 96), 12),
        (Block([0x20, 0x02], 16), 2),
    ]

    /// - Parameter address: In network order, 4 or 16 bytes.
    package static func isPublic(_ address: [UInt8]) -> Bool {
        if address.count == 4 { return !special4.contains { $0.contains(address) } }
        guard address.count == 16 else { return false }
        if let wrapper = wrappers.first(where: { $0.block.contains(address) }) {
            return isPublic(Array(address[wrapper.offset..<(wrapper.offset + 4)]))
        }
        return global6.contains(address) && !special6.contains { $0.contains(address) }
    }
}
