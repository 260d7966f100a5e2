import AFBase
package import Foundation

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
