import AFLoop
import AFWire

/// Takes the rest of a response that no task wants, and gives it to the cache if that wants it.
final class Sink: TransferClient {
    /// Reading more costs more than another connection.
    private static let capacity: Int64 = 64 << 10
    static let patience = LoopInterval(.seconds(2))

    private var taken: Int64 = 0
    private let tap: (any BodyTap)?

    init(_ tap: (any BodyTap)?) {
        self.tap = tap
    }

    static func takes(_ length: Int64) -> Bool { length <= capacity }

    var handshakeDelegate: (any HandshakeDelegate)? { nil }
    func transferSentBody(_ transfer: Transfer, total: Int64) {}
    func transferReceivedHead(_ transfer: Transfer, _ head: ResponseHead) {}

    func transferMayDecode(_ transfer: Transfer) {}
    func transferReceivedBody(_ transfer: Transfer, _ bytes: UnsafeRawBufferPointer) {
        taken += Int64(bytes.count)
        guard taken <= Sink.capacity else { return transfer.cancel() }
        tap?.append(bytes)
    }

    func transferFinished(_ transfer: Transfer) {
        tap?.finish()
    }

    func transferFailed(_ transfer: Transfer, _ error: TransferError) {}
}
