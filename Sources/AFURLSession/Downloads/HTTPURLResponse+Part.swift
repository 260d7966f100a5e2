import AFWire
import Foundation

extension HTTPURLResponse {
    /// The bytes that its body has, and their total if that is known (RFC 9110 §14.4); nil if the response does not
    /// say.
    package var part: (bytes: ClosedRange<Int64>, total: Int64?)? {
        guard let text = value(forHTTPHeaderField: "Content-Range"), let range = ContentRange(text),
            let bytes = range.span
        else { return nil }
        return (bytes, range.total)
    }

    /// Whether offsets count other bytes than those of the decoded body.
    package var hasCodedContent: Bool { headers.hasCodedContent }
}
