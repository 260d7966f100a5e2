import AFBase
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

/// Names of character sets, as IANA registers them, and the encodings of Foundation's that they stand for.
package enum CharacterSetName {
    /// The encoding of a name; UTF-8 without a name, and for an unknown one.
    package static func encoding(_ name: String?) -> String.Encoding {
        let isPart = { (byte: UInt8) in !" \t\"'".utf8.contains(byte) }
        guard let bytes = name?.utf8, let first = bytes.firstIndex(where: isPart),
            let last = bytes.lastIndex(where: isPart)
        else { return .utf8 }
        return encodings[ASCII.lowered(Substring(bytes[first...last]))] ?? .utf8
    }

    private static let encodings: [String: String.Encoding] = [
        "us-ascii": .ascii, "ascii": .ascii, "iso646-us": .ascii,
        "utf-8": .utf8, "utf8": .utf8,
        "utf-16": .utf16, "utf-16be": .utf16BigEndian, "utf-16le": .utf16LittleEndian,
        "utf-32": .utf32, "utf-32be": .utf32BigEndian, "utf-32le": .utf32LittleEndian,
        "iso-8859-1": .isoLatin1, "iso_8859-1": .isoLatin1, "latin1": .isoLatin1, "l1": .isoLatin1,
        "iso-8859-2": .isoLatin2, "iso_8859-2": .isoLatin2, "latin2": .isoLatin2, "l2": .isoLatin2,
        "windows-1250": .windowsCP1250, "cp1250": .windowsCP1250,
        "windows-1251": .windowsCP1251, "cp1251": .windowsCP1251,
        "windows-1252": .windowsCP1252, "cp1252": .windowsCP1252,
        "windows-1253": .windowsCP1253, "cp1253": .windowsCP1253,
        "windows-1254": .windowsCP1254, "cp1254": .windowsCP1254,
        "macintosh": .macOSRoman, "mac": .macOSRoman, "x-mac-roman": .macOSRoman,
        "shift_jis": .shiftJIS, "shift-jis": .shiftJIS, "sjis": .shiftJIS, "ms_kanji": .shiftJIS, "x-sjis": .shiftJIS,
        "euc-jp": .japaneseEUC, "x-euc-jp": .japaneseEUC,
        "iso-2022-jp": .iso2022JP,
    ]
}
