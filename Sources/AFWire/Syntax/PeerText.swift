/// Text that came from a peer, on its way into an error message or a log.
///
/// It may hold line breaks that forge log lines, escape sequences that drive a terminal, or megabytes.
package enum PeerText {
    /// Length in bytes past which peer text is cut.
    package static let limit = 256

    /// `bytes` as printable ASCII, at most ``limit`` bytes of it.
    package static func escaped(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            let piece = escape(byte)
            // Room is kept for the mark that says something is missing.
            guard text.count + piece.count <= limit - 3 else {
                text += Array("...".utf8)
                break
            }
            text += piece
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func escape(_ byte: UInt8) -> [UInt8] {
        switch byte {
        case 0x0D: Array("\\r".utf8)
        case 0x0A: Array("\\n".utf8)
        case 0x09: Array("\\t".utf8)
        case 0x22, 0x5C: [0x5C, byte]
        case 0x20...0x7E: [byte]
        default: [0x5C, 0x78, hexDigit(byte >> 4), hexDigit(byte & 15)]
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x61 + value - 10 }
}
