import AFTLS

/// The ciphertext of the secured connection that is at work. A connection copies what it cannot finish, so one pair
/// serves all connections of a loop.
package final class TLSBuffers {
    /// Four records for one `send`: one by one they cost a fifth more.
    static let sealedRecords = 4
    private static let inputSize = 128 << 10

    package let input = UnsafeMutableRawBufferPointer.allocate(byteCount: TLSBuffers.inputSize, alignment: 64)
    package let output = UnsafeMutableRawBufferPointer.allocate(
        byteCount: (TLSBuffers.sealedRecords + 1) * TLSEngine.outputReserve,
        alignment: 64
    )
    /// The buffers of connections to proxies: such a connection and the one within it are at work at the same time.
    private(set) lazy var ofProxies: TLSBuffers = TLSBuffers()
    /// Where the end of a head and the beginning of its body become one record.
    package let record = UnsafeMutableRawBufferPointer.allocate(byteCount: TLSEngine.recordSize, alignment: 64)

    package init() {}

    deinit {
        input.deallocate()
        output.deallocate()
        record.deallocate()
    }
}
