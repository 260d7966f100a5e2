import AFWire
import Foundation

extension HTTPURLResponse {
    /// Which bytes its body is, and of how many if that is known (RFC 9110 §14.4); nil if it does not say so.
    package var part: (bytes: ClosedRange<Int64>, total: Int64?)? {
        guard let text = value(forHTTPHeaderField: "Content-Range"), let range = ContentRange(text),
            let bytes = range.span
        else { return nil }
        return (bytes, range.total)
    }

    /// Whether offsets count other bytes than those of its body.
    package var hasCodedContent: Bool { headers.hasCodedContent }
}
