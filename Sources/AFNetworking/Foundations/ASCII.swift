/// Names and numbers of protocols, byte by byte: by the rules of Unicode the Kelvin sign is a "k", and U+0665 a digit.
package enum ASCII {
    /// A to Z in lower case, all else as it is.
    package static func lowered(_ text: some StringProtocol) -> String {
        String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// a to z in upper case, all else as it is.
    package static func uppered(_ text: some StringProtocol) -> String {
        String(decoding: text.utf8.map { (0x61...0x7A).contains($0) ? $0 & ~0x20 : $0 }, as: UTF8.self)
    }

    /// Nil for what is not of digits alone, and for what is too large.
    package static func number(_ digits: some StringProtocol) -> Int64? {
        digits.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(digits) : nil
    }
}
