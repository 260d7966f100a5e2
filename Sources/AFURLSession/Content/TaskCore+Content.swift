import AFTransport

/// What stands between the transfer's bytes and the consumer's.
extension TaskCore {
    /// Nobody holds up the task, but perhaps the decoding itself.
    var mayDecode: Bool { transfer?.pauses.isSubset(of: .undecoded) ?? true }

    /// Whether `body` is still the one to be decoded.
    func isDecoding(_ body: CodedBody) -> Bool { content === body && isLoading }

    func transferMayDecode(_ transfer: Transfer) {
        content?.goOnSoon()
    }

    func deliver(decoded bytes: UnsafeRawBufferPointer) {
        transfer?.decoded(bytes.count)
        deliver(bytes)
    }

    /// The longest piece the consumer is given at a time.
    var longestPiece: Int { content == nil ? ReadBuffer.size : ContentDecoder.pieceSize }
}
