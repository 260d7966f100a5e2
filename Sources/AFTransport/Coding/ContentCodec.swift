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
