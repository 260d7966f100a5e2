/// The compression of a body.
public enum ContentCoding: String, Sendable, Hashable, CaseIterable {
    /// gzip (RFC 1952).
    case gzip
    /// zlib (RFC 1950), which is what `deflate` means in HTTP.
    case zlib
    /// Raw deflate without header and checksum (RFC 1951), which some servers send as `deflate`.
    case rawDeflate

    /// The name in `Content-Encoding`.
    public var token: String { self == .gzip ? "gzip" : "deflate" }

    /// Compresses bytes.
    public func encode(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        let bytes = Array(bytes)
        return header + Deflate.compressed(bytes)
            + trailer(crc: Checksum.crc32(bytes), adler: Checksum.adler32(bytes), count: bytes.count)
    }

    /// Writes bytes in the format without compression: a few bytes longer than before.
    public func store(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        let bytes = Array(bytes)
        return header + Deflate.stored(bytes)
            + trailer(crc: Checksum.crc32(bytes), adler: Checksum.adler32(bytes), count: bytes.count)
    }

    private var header: [UInt8] {
        switch self {
        case .gzip: [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]
        case .zlib: [0x78, 0x9C]
        case .rawDeflate: []
        }
    }

    private func trailer(crc: UInt32, adler: UInt32, count: Int) -> [UInt8] {
        switch self {
        case .gzip: Self.bytes(crc.littleEndian) + Self.bytes(UInt32(truncatingIfNeeded: count).littleEndian)
        case .zlib: Self.bytes(adler.bigEndian)
        case .rawDeflate: []
        }
    }

    private static func bytes(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }

    /// `count` zero bytes, compressed about 1000 to 1. The zeros are never made.
    func bomb(_ count: Int) -> DeflateBomb {
        var bomb = DeflateBomb(count: count)
        bomb.start = header + bomb.start
        bomb.end += trailer(crc: Checksum.crc32(zeros: count), adler: Checksum.adler32(zeros: count), count: count)
        return bomb
    }
}

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

    /// The checksum of `count` zero bytes, in one step for each bit of the count.
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
