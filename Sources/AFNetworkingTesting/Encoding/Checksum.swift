/// The checksums at the end of gzip (CRC-32) and zlib (Adler-32) data.
enum Checksum {
    private static let polynomial: UInt32 = 0xEDB8_8320

    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ polynomial : value >> 1 }
    }

    static func crc32(_ bytes: some Sequence<UInt8>) -> UInt32 {
        let table = table
        return ~bytes.reduce(~0) { value, byte in value >> 8 ^ table[Int(UInt8(truncatingIfNeeded: value) ^ byte)] }
    }

    static func adler32(_ bytes: some Sequence<UInt8>) -> UInt32 {
        var (low, high): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return high << 16 | low
    }

    /// Of so many zero bytes, in as many steps as the count has bits.
    static func crc32(zeros count: Int) -> UInt32 {
        // A zero bit multiplies the register by x, in the field of the polynomial.
        var (power, factor, left) = (UInt32(1) << 31, UInt32(1) << 30, UInt64(count) * 8)
        while left > 0 {
            if left & 1 == 1 { power = multiply(power, factor) }
            factor = multiply(factor, factor)
            left >>= 1
        }
        return ~multiply(~0, power)
    }

    static func adler32(zeros count: Int) -> UInt32 { UInt32(count % 65_521) << 16 | 1 }

    /// The product of two polynomials; the highest bit is the coefficient of 1.
    private static func multiply(_ one: UInt32, _ other: UInt32) -> UInt32 {
        var (product, shifted) = (UInt32(0), other)
        for bit in (0..<32).reversed() {
            if one >> UInt32(bit) & 1 == 1 { product ^= shifted }
            shifted = shifted & 1 == 1 ? shifted >> 1 ^ polynomial : shifted >> 1
        }
        return product
    }
}
