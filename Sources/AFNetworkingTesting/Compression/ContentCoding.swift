import CAFZlib

/// The compression of a body.
@nonexhaustive
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
        Deflate(windowBits: windowBits).compress(Array(bytes), flush: Z_FINISH)
    }

    /// Writes bytes in the format without compression: a few bytes longer than before.
    public func store(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        Deflate(windowBits: windowBits, level: 0).compress(Array(bytes), flush: Z_FINISH)
    }

    /// How zlib names the format.
    private var windowBits: Int32 {
        switch self {
        case .gzip: 15 + 16
        case .zlib: 15
        case .rawDeflate: -15
        }
    }

    /// `count` zero bytes, compressed about 1000 to 1. The zeros are never made.
    func bomb(_ count: Int) -> DeflateBomb {
        var bomb = DeflateBomb(count: count)
        bomb.start = header
        bomb.end += trailer(zeros: count)
        return bomb
    }

    private var header: [UInt8] {
        switch self {
        case .gzip: [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]
        case .zlib: [0x78, 0x9C]
        case .rawDeflate: []
        }
    }

    private func trailer(zeros count: Int) -> [UInt8] {
        switch self {
        case .gzip:
            Self.bytes(Self.crc32(zeros: count).littleEndian)
                + Self.bytes(UInt32(truncatingIfNeeded: count).littleEndian)
        case .zlib: Self.bytes((UInt32(count % 65_521) << 16 | 1).bigEndian)
        case .rawDeflate: []
        }
    }

    private static func bytes(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }

    /// The checksum of so many zero bytes, from those of powers of two.
    private static func crc32(zeros count: Int) -> UInt32 {
        var (checksum, power, length, left) = (UInt(0), CAFZlib.crc32(0, [0], 1), 1, count)
        while left > 0 {
            if left & 1 == 1 { checksum = crc32_combine(checksum, power, length) }
            power = crc32_combine(power, power, length)
            length *= 2
            left >>= 1
        }
        return UInt32(checksum)
    }
}
