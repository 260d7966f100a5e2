/// Bytes a peer sent, made fit for a message: printable ASCII, cut when long.
enum Excerpt {
    static func text(_ bytes: some Collection<UInt8>) -> String {
        let shown = bytes.prefix(128).map { byte -> String in
            switch byte {
            case UInt8(ascii: "\r"): "\\r"
            case UInt8(ascii: "\n"): "\\n"
            case 0x20...0x7E: String(UnicodeScalar(byte))
            default: "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        return "\"\(shown.joined())\"" + (bytes.count > 128 ? " (first 128 of \(bytes.count) bytes)" : "")
    }
}
