/// Names and numbers of protocols, byte by byte: by the rules of Unicode the Kelvin sign is a "k", and U+0665 a digit.
public enum ASCII {
    // MARK: Bytes

    /// Lower case for A to Z, any other byte as it is.
    @inlinable
    @inline(__always)
    public static func folded(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }

    /// Whether `byte` is one of 0 to 9.
    @inlinable
    @inline(__always)
    public static func isDigit(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10
    }

    // MARK: Text

    /// A to Z in lower case, all else as it is.
    @inlinable
    public static func lowered(_ text: some StringProtocol) -> String {
        String(decoding: text.utf8.map(folded), as: UTF8.self)
    }

    /// a to z in upper case, all else as it is.
    package static func uppered(_ text: some StringProtocol) -> String {
        String(decoding: text.utf8.map { (0x61...0x7A).contains($0) ? $0 & ~0x20 : $0 }, as: UTF8.self)
    }

    /// Nil for what is not of digits alone, and for what is too large.
    package static func number(_ digits: some StringProtocol) -> Int64? {
        digits.utf8.allSatisfy(isDigit) ? Int64(digits) : nil
    }
}
