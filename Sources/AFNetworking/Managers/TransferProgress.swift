/// How far a task is.
public struct TransferProgress: Sendable, Hashable {
    /// Bytes of the request's body that were sent.
    public private(set) var sent: Int64 = 0
    /// Bytes to send; -1 as long as nobody knows.
    public private(set) var expectedToSend: Int64 = -1
    /// Bytes of the response's body that have arrived.
    public private(set) var received: Int64 = 0
    /// Bytes to receive; -1 as long as nobody knows.
    public private(set) var expectedToReceive: Int64 = -1

    init() {}

    /// From 0 to 1: how much of the body was sent; nil if nobody knows.
    public var fractionSent: Double? { TransferProgress.fraction(sent, of: expectedToSend) }

    /// From 0 to 1: how much of the body has arrived; nil if nobody knows.
    public var fractionReceived: Double? { TransferProgress.fraction(received, of: expectedToReceive) }

    private static func fraction(_ part: Int64, of whole: Int64) -> Double? {
        whole > 0 ? min(Double(part) / Double(whole), 1) : nil
    }

    mutating func advance(_ direction: TaskRecord.Direction, to completed: Int64, of total: Int64) {
        switch direction {
        case .upload: (sent, expectedToSend) = (completed, total)
        case .download: (received, expectedToReceive) = (completed, total)
        }
    }

    func counts(_ direction: TaskRecord.Direction) -> (completed: Int64, total: Int64) {
        direction == .upload ? (sent, expectedToSend) : (received, expectedToReceive)
    }
}
