import AFLoop
package import AFWire

/// Gets the events of a transfer, on the loop, in wire order, and nothing after `transferFinished` or `transferFailed`.
package protocol TransferClient: DepartureRules {
    /// The delegate that the handshake may ask about the server, if there is one.
    var handshakeDelegate: (any HandshakeDelegate)? { get }
    /// The number of the task that it loads for, if there is one.
    var taskNumber: Int? { get }
    /// The judge of trust and identity that holds now: the rules have changed since the transfer was made.
    func presentJudge(of transfer: Transfer) -> TrustJudge?
    /// The transfer sends the request another time: the client returns it, perhaps changed.
    func requestToSendAgain(_ transfer: Transfer) -> WireRequest
    /// Whether the client's rules allow to send a request once more that the server may have got.
    func transferMaySendAgain(_ transfer: Transfer) -> Bool
    /// It would leave without TLS, and the rules forbid that now: the client cancels it.
    func transferIsForbidden(_ transfer: Transfer)
    func transferSentBody(_ transfer: Transfer, total: Int64)
    /// A response that announces another one (1xx).
    func transferReceivedInterim(_ transfer: Transfer, head: ResponseHead)
    func transferReceivedHead(_ transfer: Transfer, head: ResponseHead)
    /// Nothing but bytes that are not decoded yet holds up the transfer any more.
    func transferMayDecode(_ transfer: Transfer)
    /// The bytes are valid only during this call.
    func transferReceivedBody(_ transfer: Transfer, bytes: UnsafeRawBufferPointer)
    func transferFinished(_ transfer: Transfer)
    func transferFailed(_ transfer: Transfer, error: TransferError)
}

extension TransferClient {
    package var taskNumber: Int? { nil }
    package func presentJudge(of transfer: Transfer) -> TrustJudge? { transfer.key.judge }
    package func transferReceivedInterim(_ transfer: Transfer, head: ResponseHead) {}
    package func requestToSendAgain(_ transfer: Transfer) -> WireRequest { transfer.request }
    package func transferMaySendAgain(_ transfer: Transfer) -> Bool { true }
}

/// A transfer tells it what it does, on the loop. There is none unless something records events.
package protocol TransferObserver: AnyObject {
    func acquired(_ connection: ConnectionReport, isReused: Bool)
    func bytesSent(total: Int64)
    func requestSent(headBytes: Int64, bodyBytes: Int64)
    func responseBegan(status: Int, headBytes: Int64)
    func bytesReceived(total: Int64)
    /// The request is sent once more.
    func retried()
}

/// Takes the rest of the body of a response that no client wants any more.
package protocol BodyTap: AnyObject {
    func append(_ bytes: UnsafeRawBufferPointer)
    /// The body is complete.
    func finish()
}

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
    /// The request has left already.
    func forbids(_ request: WireRequest) -> Bool { true }
    func forbidsTunnel(to endpoint: Endpoint) -> Bool { true }
    func transferIsForbidden(_ transfer: Transfer) { transfer.cancel() }
    func transferSentBody(_ transfer: Transfer, total: Int64) {}
    func transferReceivedHead(_ transfer: Transfer, head: ResponseHead) {}

    func transferMayDecode(_ transfer: Transfer) {}
    func transferReceivedBody(_ transfer: Transfer, bytes: UnsafeRawBufferPointer) {
        taken += Int64(bytes.count)
        guard taken <= Sink.capacity else { return transfer.cancel() }
        tap?.append(bytes)
    }

    func transferFinished(_ transfer: Transfer) {
        tap?.finish()
    }

    func transferFailed(_ transfer: Transfer, error: TransferError) {}
}
