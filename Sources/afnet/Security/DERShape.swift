import AFURLSession
import Glibc

/// Recognizes public keys in DER, so that afnet makes no pin of other bytes.
enum DERShape {
    /// Whether all bytes are one `SEQUENCE { SEQUENCE { OBJECT IDENTIFIER … } BIT STRING }`.
    static func isPublicKey(_ bytes: [UInt8]) -> Bool {
        guard let whole = element(0x30, in: bytes[...]), whole.rest.isEmpty,
            let algorithm = element(0x30, in: whole.content), element(0x06, in: algorithm.content) != nil,
            let key = element(0x03, in: algorithm.rest)
        else { return false }
        return key.rest.isEmpty && key.content.count > 1
    }

    private static func element(
        _ tag: UInt8,
        in bytes: ArraySlice<UInt8>
    ) -> (content: ArraySlice<UInt8>, rest: ArraySlice<UInt8>)? {
        guard bytes.first == tag, let first = bytes.dropFirst().first else { return nil }
        var rest = bytes.dropFirst(2)
        var length = Int(first)
        if first >= 0x80 {
            let count = Int(first & 0x7F)
            guard (1...4).contains(count), rest.count >= count else { return nil }
            length = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(count)
        }
        guard length <= rest.count else { return nil }
        return (rest.prefix(length), rest.dropFirst(length))
    }
}
