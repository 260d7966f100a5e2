package import AFWire
import Foundation

/// What the bytes of a file must add up to: see ``/AFURLSession/DownloadParts/digest``.
public struct FileDigest: Hashable, Sendable {
    /// The bits of the function: 256 for SHA-256, 512 for SHA-512.
    public let bits: Int
    /// The digest itself.
    public let bytes: [UInt8]

    /// A digest by SHA-256 or SHA-512, as its length says. Nil for any other length.
    public init?(_ bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
        bits = self.bytes.count * 8
        guard bits == 256 || bits == 512 else { return nil }
    }

    /// A digest in hexadecimal, as `sha256sum` and `sha512sum` print it. Nil if the text is none.
    public init?(hexadecimal text: String) {
        let digits = text.utf8.compactMap { ByteScanning.hexDigit($0) }
        guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
        self.init(stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
    }

    /// The stronger of the digests that a server names in `Repr-Digest` (RFC 9530 §3). Nil if it names none that counts.
    package init?(_ headers: HTTPHeaders) {
        let text = headers.values("Repr-Digest").joined(separator: ", ")
        guard !text.isEmpty, let named = StructuredDictionary(parsing: text) else { return nil }
        for (name, bits) in [("sha-512", 512), ("sha-256", 256)] {
            guard case .bytes(let bytes) = named[name]?.value, let digest = FileDigest(bytes), digest.bits == bits
            else {
                continue
            }
            self = digest
            return
        }
        return nil
    }

    /// In hexadecimal.
    public var hexadecimal: String { bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }
}
