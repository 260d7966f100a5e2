import AFBase

/// The syntax of host names.
enum DNSName {
    /// Whether there are 1 to 253 bytes in labels of 1 to 63, of letters, digits, `-` and `_`.
    static func isValid(_ name: some Collection<UInt8>) -> Bool {
        var label = 0
        var count = 0
        for byte in name {
            count += 1
            if byte == UInt8(ascii: ".") {
                guard label > 0 else { return false }
                label = 0
            } else {
                label += 1
                guard label <= 63, isLabelByte(byte) else { return false }
            }
            guard count <= 253 else { return false }
        }
        return label > 0
    }

    /// Whether each label is a number, decimal or hexadecimal (`0x…`): `inet_aton` reads such a name as an address, or
    /// nearly does.
    static func isNumeric(_ name: some BidirectionalCollection<UInt8>) -> Bool {
        name.split(separator: UInt8(ascii: ".")).allSatisfy { label in
            if label.allSatisfy({ ASCII.isDigit($0) }) { return true }
            return label.prefix(2).map { ASCII.folded($0) } == Array("0x".utf8)
                && label.dropFirst(2).allSatisfy { ASCII.isDigit($0) || ASCII.folded($0) &- 0x61 < 6 }
        }
    }

    /// What a host name consists of, apart from its dots. Underscores occur in practice.
    private static func isLabelByte(_ byte: UInt8) -> Bool {
        ASCII.folded(byte) &- 0x61 < 26 || ASCII.isDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }
}
