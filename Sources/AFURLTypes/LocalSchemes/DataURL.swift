import AFBase
import AFWire

/// A `data:` URL (RFC 2397), read strictly from its bytes: it holds its own body, so no server can say what a malformed
/// one meant.
///
/// ```
/// data:[type/subtype][;name=value]…[;base64],bytes
/// ```
///
/// A fragment is not part of the data. Without a media type it is `text/plain;charset=US-ASCII`; with parameters alone,
/// `text/plain` with these. Base64 has its padding, no line breaks and no bits left over (RFC 4648 §3).
package struct DataURL: Equatable, Sendable {
    package enum Flaw: Error, Hashable, Sendable {
        /// No comma says where the data begins.
        case noComma
        case mediaType
        /// No two hexadecimal digits follow a `%`.
        case percent
        case base64
        /// The data is longer than the session may hold in memory.
        case tooLong(limit: Int)
    }

    /// The media type in lower case, without parameters.
    package let mimeType: String
    /// The charset in lower case; nil if the URL names a type and no charset.
    package let charset: String?
    package let body: [UInt8]

    private static let usualCharset = "us-ascii"

    /// - Parameter bytes: The whole URL.
    package init(_ bytes: UnsafeRawBufferPointer, limit: Int) throws(Flaw) {
        let start = "data:".utf8.count
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.count
        guard start <= end, let comma = bytes[start..<end].firstIndex(of: UInt8(ascii: ",")) else { throw .noComma }
        let head = try DataURL.decoded(bytes, range: start..<comma)
        let payload = try DataURL.decoded(bytes, range: comma + 1..<end)
        let (type, isBase64) = DataURL.split(head)
        (mimeType, charset) = try DataURL.mediaType(type)
        guard (isBase64 ? payload.count / 4 * 3 - 2 : payload.count) <= limit else { throw .tooLong(limit: limit) }
        body = isBase64 ? try DataURL.base64(payload) : payload
        guard body.count <= limit else { throw .tooLong(limit: limit) }
    }

    private static func decoded(_ bytes: UnsafeRawBufferPointer, range: Range<Int>) throws(Flaw) -> [UInt8] {
        guard let decoded = PercentEncoding.decode(UnsafeRawBufferPointer(rebasing: bytes[range])) else {
            throw .percent
        }
        return decoded
    }

    /// `;base64` says how the data is coded only at the end of the head.
    private static func split(_ head: [UInt8]) -> (type: ArraySlice<UInt8>, isBase64: Bool) {
        let marker = Array(";base64".utf8)
        let isBase64 = head.count >= marker.count && head.suffix(marker.count).map(ASCII.folded) == marker
        return (isBase64 ? head.dropLast(marker.count) : head[...], isBase64)
    }

    private static func mediaType(_ bytes: ArraySlice<UInt8>) throws(Flaw) -> (String, String?) {
        guard !bytes.isEmpty else { return ("text/plain", usualCharset) }
        let isTypeless = bytes.first == UInt8(ascii: ";")
        let text = (isTypeless ? Array("text/plain".utf8) : []) + bytes
        guard let type = text.withUnsafeBytes({ MediaType($0) }), hasAllParameters(type, text: text) else {
            throw .mediaType
        }
        return (type.essence, type.charset)
    }

    /// Whether the type reader has understood every parameter. A malformed one ends the list of a `Content-Type`,
    /// because servers have always sent such lists. In a URL it is more likely a typing error, and so an error here.
    /// Quoted values may hold any separator, and do not count.
    private static func hasAllParameters(_ type: MediaType, text: [UInt8]) -> Bool {
        text.contains(UInt8(ascii: "\"")) || text.count { $0 == UInt8(ascii: ";") } == type.parameters.count
    }

    private static func base64(_ text: [UInt8]) throws(Flaw) -> [UInt8] {
        guard let decoded = text.withUnsafeBytes({ Base64.decode($0) }) else { throw .base64 }
        return decoded
    }
}
