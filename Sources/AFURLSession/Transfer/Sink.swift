import AFLoop
import AFWire

/// Takes the rest of a response that nobody wants, but perhaps the cache.
final class Sink: TransferClient {
    /// Reading more costs more than another connection.
    private static let capacity: Int64 = 64 << 10
    static let patience = LoopInterval(.seconds(2))

    private var taken: Int64 = 0
    private let writer: CacheWriter?

    init(_ writer: CacheWriter?) {
        self.writer = writer
    }

    static func takes(_ length: Int64) -> Bool { length <= capacity }

    var handshakeDelegate: (any HandshakeDelegate)? { nil }
    func transferSentBody(_ transfer: Transfer, total: Int64) {}
    func transferReceivedHead(_ transfer: Transfer, _ head: ResponseHead) {}

    func transferMayDecode(_ transfer: Transfer) {}
    func transferReceivedBody(_ transfer: Transfer, _ bytes: UnsafeRawBufferPointer) {
        taken += Int64(bytes.count)
        guard taken <= Sink.capacity else { return transfer.cancel() }
        writer?.append(bytes)
    }

    func transferFinished(_ transfer: Transfer) {
        writer?.finish()
    }

    func transferFailed(_ transfer: Transfer, _ error: TransferError) {}
}
