package import Foundation

/// The encodings of Unicode that the first bytes of a text tell, if it begins with a byte order mark or two ASCII
/// characters.
package enum UnicodeEncoding: Equatable, Sendable, CustomStringConvertible {
    case utf8
    case utf16(bigEndian: Bool)
    case utf32(bigEndian: Bool)

    /// Detects the encoding by a byte order mark or, as RFC 4627 §3 does for JSON, by the zeros among the first bytes.
    ///
    /// - Returns: The encoding, and how many bytes of the beginning are a byte order mark.
    package static func detect(in text: Data) -> (encoding: UnicodeEncoding, mark: Int) {
        // Most texts begin with two ASCII characters.
        if text.count >= 2, (1..<0x80).contains(text[text.startIndex]), (1..<0x80).contains(text[text.startIndex + 1]) {
            return (.utf8, 0)
        }
        let start = [UInt8](text.prefix(4))
        let zeros = start.map { $0 == 0 }
        if start.starts(with: [0xEF, 0xBB, 0xBF]) { return (.utf8, 3) }
        if start.starts(with: [0, 0, 0xFE, 0xFF]) { return (.utf32(bigEndian: true), 4) }
        if start.starts(with: [0xFF, 0xFE, 0, 0]) { return (.utf32(bigEndian: false), 4) }
        if start.starts(with: [0xFE, 0xFF]) { return (.utf16(bigEndian: true), 2) }
        if start.starts(with: [0xFF, 0xFE]) { return (.utf16(bigEndian: false), 2) }
        if zeros.starts(with: [true, true, true, false]) { return (.utf32(bigEndian: true), 0) }
        if zeros.starts(with: [false, true, true, true]) { return (.utf32(bigEndian: false), 0) }
        if zeros.starts(with: [true, false]) { return (.utf16(bigEndian: true), 0) }
        if zeros.starts(with: [false, true]) { return (.utf16(bigEndian: false), 0) }
        return (.utf8, 0)
    }

    /// Text in this encoding, without a byte order mark; nil if it is not valid.
    package func string(_ text: Data) -> String? {
        switch self {
        case .utf8:
            String(validating: text, as: UTF8.self)
        case .utf16(let bigEndian):
            Self.units(text, bigEndian: bigEndian).flatMap { (units: [UInt16]) in
                String(validating: units, as: UTF16.self)
            }
        case .utf32(let bigEndian):
            Self.units(text, bigEndian: bigEndian).flatMap { (units: [UInt32]) in
                String(validating: units, as: UTF32.self)
            }
        }
    }

    /// The code units; nil if bytes are left over.
    private static func units<Unit: FixedWidthInteger>(_ bytes: Data, bigEndian: Bool) -> [Unit]? {
        let size = Unit.bitWidth / 8
        guard bytes.count.isMultiple(of: size) else { return nil }
        return bytes.withUnsafeBytes { raw in
            (0..<raw.count / size).map { index in
                let unit = raw.loadUnaligned(fromByteOffset: index * size, as: Unit.self)
                return bigEndian ? Unit(bigEndian: unit) : Unit(littleEndian: unit)
            }
        }
    }

    /// The name for messages.
    package var description: String {
        switch self {
        case .utf8: "UTF-8"
        case .utf16: "UTF-16"
        case .utf32: "UTF-32"
        }
    }
}
