import AFTransport

/// The decoding between the transfer and the consumer.
extension TaskCore {
    /// Whether the task may decode: only the decoding itself pauses its transfer, if anything does.
    var mayDecode: Bool { transfer?.pauses.isSubset(of: .undecoded) ?? true }

    /// Whether `body` is still the one that the task decodes.
    func isDecoding(_ body: CodedBody) -> Bool { content === body && isLoading }

    func transferMayDecode(_ transfer: Transfer) {
        content?.goOnSoon()
    }

    func deliver(decoded bytes: UnsafeRawBufferPointer) {
        transfer?.decoded(bytes.count)
        deliver(bytes)
    }

    /// The length of the longest piece that the consumer is given at a time.
    var longestPiece: Int { content == nil ? ReadBuffer.size : ContentDecoder.pieceSize }
}
