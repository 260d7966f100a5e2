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
                guard label <= 63, ASCII.isLabelByte(byte) else { return false }
            }
            guard count <= 253 else { return false }
        }
        return label > 0
    }
}
