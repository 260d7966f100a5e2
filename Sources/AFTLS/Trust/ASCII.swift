/// Bytes of names.
enum ASCII {
    /// Lower case for A to Z, any other byte as it is.
    static func folded(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }

    static func isDigit(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10
    }

    /// What a host name consists of, apart from its dots. Underscores occur in practice.
    static func isLabelByte(_ byte: UInt8) -> Bool {
        folded(byte) &- 0x61 < 26 || isDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }
}
