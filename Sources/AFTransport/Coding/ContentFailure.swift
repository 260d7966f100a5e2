/// Why the coding of a body could not be undone.
package enum ContentFailure: Error, Equatable, Sendable {
    case tooManyCodings
    /// The bytes are not what the coding makes, for this reason.
    case damaged(ContentCoding, String)
    /// The body ended before the coding did.
    case truncated(ContentCoding)
    /// It becomes more than so many times longer.
    case bomb(ratio: Int)
    case noMemory(ContentCoding)
}
