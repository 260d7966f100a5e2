package import Foundation

/// The encodings of Unicode that text tells by its first bytes, if it begins with two characters of ASCII or a byte
/// order mark.
package enum UnicodeEncoding: Equatable, Sendable, CustomStringConvertible {
    case utf8
    case utf16(bigEndian: Bool)
    case utf32(bigEndian: Bool)

    /// By a byte order mark, or, as RFC 4627 §3 says of JSON, by the zeros among the first bytes.
    ///
    /// - Returns: The encoding, and how many bytes of the beginning are a byte order mark.
    package static func detect(in text: Data) -> (encoding: UnicodeEncoding, mark: Int) {
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
            Self.units(text, bigEndian).flatMap { (units: [UInt16]) in String(validating: units, as: UTF16.self) }
        case .utf32(let bigEndian):
            Self.units(text, bigEndian).flatMap { (units: [UInt32]) in String(validating: units, as: UTF32.self) }
        }
    }

    /// The numbers in the bytes; nil if some bytes are left over.
    private static func units<Unit: FixedWidthInteger>(_ bytes: Data, _ bigEndian: Bool) -> [Unit]? {
        let size = Unit.bitWidth / 8
        guard bytes.count.isMultiple(of: size) else { return nil }
        return bytes.withUnsafeBytes { raw in
            (0..<raw.count / size).map { index in
                let unit = raw.loadUnaligned(fromByteOffset: index * size, as: Unit.self)
                return bigEndian ? Unit(bigEndian: unit) : Unit(littleEndian: unit)
            }
        }
    }

    /// What people call it.
    package var description: String {
        switch self {
        case .utf8: "UTF-8"
        case .utf16: "UTF-16"
        case .utf32: "UTF-32"
        }
    }
}
