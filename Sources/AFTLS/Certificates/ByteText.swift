/// Text for messages out of bytes that a stranger chose.
enum ByteText {
    /// UTF-8 with everything invisible escaped, cut to `limit` bytes.
    static func escaped(_ bytes: some Collection<UInt8>, limit: Int = 256) -> String {
        escaped(String(decoding: bytes.prefix(limit * 2), as: UTF8.self), limit: limit)
    }

    /// The same of a string.
    static func escaped(_ text: String, limit: Int = 256) -> String {
        var result = ""
        var room = limit
        for scalar in text.unicodeScalars {
            let piece = isVisible(scalar) ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
            room -= piece.utf8.count
            guard room >= 0 else { return result + "…" }
            result += piece
        }
        return result
    }

    /// Two digits for each byte.
    static func hex(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static let digits = Array("0123456789abcdef".utf8)

    // Marks that turn the direction of text around could make one name look like another.
    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value >= 0x20 && scalar.value != 0x7F }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return false
        default: return true
        }
    }
}
