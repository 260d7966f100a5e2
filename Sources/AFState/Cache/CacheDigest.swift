import AFTLS

/// Half of a SHA-256: enough that two URLs with the same digest cannot be found. A response that is found by it is
/// still compared in full.
package struct CacheDigest: Sendable, Hashable {
    private let high: UInt64
    private let low: UInt64

    init(of bytes: [UInt8]) {
        let digest = SHA256Digest.of(bytes)
        (high, low) = digest.withUnsafeBytes {
            (
                UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
                UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }

    /// Reads ``text``.
    init?(_ text: some Collection<UInt8>) {
        guard text.count == 32, let high = CacheDigest.number(text.prefix(16)),
            let low = CacheDigest.number(text.suffix(16))
        else { return nil }
        self.high = high
        self.low = low
    }

    private static func number(_ digits: some Collection<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return number
    }

    /// 32 digits in lower case.
    package var text: String {
        let digits = Array("0123456789abcdef".utf8)
        let bytes = [high, low].flatMap { (number: UInt64) -> [UInt8] in
            stride(from: 60, through: 0, by: -4).map { (shift: Int) -> UInt8 in digits[Int(number >> shift & 15)] }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(high)
    }
}
