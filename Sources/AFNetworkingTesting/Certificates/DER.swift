import Foundation
import Glibc

/// Writes ASN.1 values in DER, the encoding of certificates.
///
/// OpenSSL's setters refuse many of the defects that a test wants, so certificates are made from these bytes.
enum DER {
    static func element(_ tag: UInt8, content: [UInt8]) -> [UInt8] {
        [tag] + length(content.count) + content
    }

    static func sequence(_ parts: [[UInt8]]) -> [UInt8] { element(0x30, content: Array(parts.joined())) }

    static func sequence(_ parts: [UInt8]...) -> [UInt8] { sequence(parts) }

    static func set(_ parts: [UInt8]...) -> [UInt8] { element(0x31, content: Array(parts.joined())) }

    /// A context-specific tag.
    static func context(_ number: UInt8, constructed: Bool = true, content: [UInt8]) -> [UInt8] {
        element((constructed ? 0xA0 : 0x80) | number, content: content)
    }

    static let null: [UInt8] = [0x05, 0x00]

    static func boolean(_ value: Bool) -> [UInt8] { element(0x01, content: [value ? 0xFF : 0x00]) }

    /// A number that is not negative.
    static func integer(_ value: UInt) -> [UInt8] {
        let bytes = withUnsafeBytes(of: value.bigEndian) { Array($0.drop { $0 == 0 }) }
        // A leading 1 bit would make the number negative.
        let needsZero = bytes.first.map { $0 >= 0x80 } ?? true
        return element(0x02, content: needsZero ? [0] + bytes : bytes)
    }

    static func octetString(_ bytes: [UInt8]) -> [UInt8] { element(0x04, content: bytes) }

    static func bitString(_ bytes: [UInt8], unusedBits: UInt8 = 0) -> [UInt8] {
        element(0x03, content: [unusedBits] + bytes)
    }

    /// A bit string of named bits; bit 0 is the highest. DER leaves out trailing zero bits.
    static func namedBits(_ bits: UInt16) -> [UInt8] {
        guard bits != 0 else { return bitString([]) }
        let used = 16 - bits.trailingZeroBitCount
        let bytes = withUnsafeBytes(of: bits.bigEndian) { Array($0.prefix((used + 7) / 8)) }
        return bitString(bytes, unusedBits: UInt8(bytes.count * 8 - used))
    }

    /// An object identifier such as "2.5.4.3"; nil if the text is not one.
    static func objectIdentifier(_ text: String) -> [UInt8]? {
        let arcs = text.split(separator: ".", omittingEmptySubsequences: false).map { UInt($0) }
        guard arcs.count >= 2, let first = arcs[0], let second = arcs[1] else { return nil }
        guard first < 3, second < 40 || first == 2 && second < 1_000 else { return nil }
        var content = base128(first * 40 + second)
        for arc in arcs.dropFirst(2) {
            guard let arc else { return nil }
            content += base128(arc)
        }
        return element(0x06, content: content)
    }

    /// UTCTime up to 2049, GeneralizedTime otherwise (RFC 5280 section 4.1.2.5).
    static func time(_ date: Date) -> [UInt8] {
        // Clamped to the years 0 to 9999.
        var seconds = time_t(min(max(date.timeIntervalSince1970.rounded(.down), -62_167_219_200), 253_402_300_799))
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let year = Int(parts.tm_year) + 1900
        let rest = [
            Int(parts.tm_mon) + 1, Int(parts.tm_mday), Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec),
        ]
        let isShort = (1950..<2050).contains(year)
        let digits = (isShort ? [year % 100] : [year / 100, year % 100]) + rest
        let text = digits.map { $0 < 10 ? "0\($0)" : "\($0)" }.joined() + "Z"
        return element(isShort ? 0x17 : 0x18, content: Array(text.utf8))
    }

    private static func length(_ count: Int) -> [UInt8] {
        guard count >= 0x80 else { return [UInt8(count)] }
        let bytes = withUnsafeBytes(of: count.bigEndian) { Array($0.drop { $0 == 0 }) }
        return [0x80 | UInt8(bytes.count)] + bytes
    }

    private static func base128(_ value: UInt) -> [UInt8] {
        var bytes = [UInt8(value & 0x7F)]
        var rest = value >> 7
        while rest > 0 {
            bytes.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
            rest >>= 7
        }
        return bytes
    }
}
