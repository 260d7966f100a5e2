/// A part of a representation to ask for with `Range` (RFC 9110 §14.1.2). One that could not be sent cannot be made.
package struct ByteRange: Hashable, Sendable {
    private enum Span: Hashable, Sendable {
        case from(Int64)
        case between(Int64, Int64)
        case suffix(Int64)
    }

    private let span: Span

    /// From an offset to the end, or to the offset `last`, which is included.
    package init(from first: Int64, through last: Int64? = nil) throws(RequestRejection) {
        guard first >= 0 else { throw RequestRejection(.range, rule: .negative) }
        guard let last else {
            span = .from(first)
            return
        }
        guard last >= first else { throw RequestRejection(.range, rule: .reversed) }
        span = .between(first, last)
    }

    /// The last so many bytes.
    package init(last count: Int64) throws(RequestRejection) {
        if count < 0 { throw RequestRejection(.range, rule: .negative) }
        if count == 0 { throw RequestRejection(.range, rule: .empty) }
        span = .suffix(count)
    }

    package var fieldValue: String {
        switch span {
        case .from(let first): "bytes=\(first)-"
        case .between(let first, let last): "bytes=\(first)-\(last)"
        case .suffix(let count): "bytes=-\(count)"
        }
    }
}
