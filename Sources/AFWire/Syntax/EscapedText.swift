/// Text from a peer or a caller, made safe to print: printable ASCII only, at most 256 bytes.
///
<<<<<<< HEAD
/// Everything of foreign origin that reaches an error, a log or a description goes through here, so that no header
/// can fake a log line or drive a terminal. A backslash and a quote are escaped too, which keeps the result
/// unambiguous between the quotes `description` puts around it.
package struct EscapedText: Hashable, Sendable, CustomStringConvertible {
    package static let maximumLength = 256

    /// The escaped text without quotes.
    package let text: String

    package init(_ bytes: some Sequence<UInt8>) {
        let ending = "..."
        var escaped: [UInt8] = []
        // Where to cut back to, should the ending be needed.
        var cut = 0
        for byte in bytes {
            Self.append(byte, to: &escaped)
            if escaped.count <= Self.maximumLength - ending.utf8.count { cut = escaped.count }
            if escaped.count > Self.maximumLength {
                escaped.removeLast(escaped.count - cut)
                escaped.append(contentsOf: ending.utf8)
                break
            }
        }
        text = String(decoding: escaped, as: UTF8.self)
=======
/// Carrying it as a type of its own shows that it went through ``PeerText``; `description` puts it in quotation
/// marks, so that a reader sees where the foreign text begins and ends.
package struct EscapedText: Hashable, Sendable, CustomStringConvertible {
    /// The escaped text without quotation marks.
    package let text: String

    package init(_ bytes: some Sequence<UInt8>) {
        text = PeerText.escaped(bytes)
>>>>>>> request
    }

    package init(_ string: String) {
        self.init(string.utf8)
    }

    package var description: String { "\"\(text)\"" }
<<<<<<< HEAD

    private static func append(_ byte: UInt8, to escaped: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\r"): escaped.append(contentsOf: "\\r".utf8)
        case UInt8(ascii: "\n"): escaped.append(contentsOf: "\\n".utf8)
        case UInt8(ascii: "\t"): escaped.append(contentsOf: "\\t".utf8)
        case UInt8(ascii: "\\"): escaped.append(contentsOf: "\\\\".utf8)
        case UInt8(ascii: "\""): escaped.append(contentsOf: "\\\"".utf8)
        case 0x20...0x7E: escaped.append(byte)
        default:
            let digits = StaticHex.upper
            escaped.append(contentsOf: "\\x".utf8)
            escaped.append(digits(byte >> 4))
            escaped.append(digits(byte & 15))
        }
    }
}

/// Hexadecimal digits without a table lookup that could be out of bounds.
enum StaticHex {
    /// - Parameter nibble: 0 to 15.
    @inline(__always)
    static func upper(_ nibble: UInt8) -> UInt8 { nibble < 10 ? nibble &+ 0x30 : nibble &+ 0x37 }

    @inline(__always)
    static func lower(_ nibble: UInt8) -> UInt8 { nibble < 10 ? nibble &+ 0x30 : nibble &+ 0x57 }
=======
>>>>>>> request
}
