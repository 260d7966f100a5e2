package import AFWire

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

/// The part of a coding that a library does: one step of one stream.
protocol ContentCodec: AnyObject {
    /// Takes bytes from the front of the input and makes some of the output. It may keep some of either for a later
    /// step.
    func run(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(ContentFailure) -> CodecStep
    /// Gets ready for another stream behind the one that has ended. False if the coding allows only one.
    func restart() -> Bool
}

struct CodecStep {
    var consumed: Int
    var produced: Int
    /// The stream is complete, and its checksum, if it has one, is right.
    var hasEnded = false
}
