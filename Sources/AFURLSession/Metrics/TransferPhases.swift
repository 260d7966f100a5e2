import AFLoop
import AFTransport

/// The phases of one attempt, each at the earliest where the one before it ended: what the dates of its metrics are
/// made from.
///
/// - A connection may have been in the making before this request came, for another one that needed it no more. What
///   was over by then is no phase of this request; what was not begins with it.
/// - A response may begin before its request has ended. Then the request counts as ended.
struct TransferPhases: Sendable {
    let fetchStarted: LoopInstant
    let lookupStarted: LoopInstant?
    let lookupEnded: LoopInstant?
    let connectStarted: LoopInstant?
    let secureStarted: LoopInstant?
    let secureEnded: LoopInstant?
    /// When the connection could be used, which for https is when it was secured.
    let connectEnded: LoopInstant?
    let requestStarted: LoopInstant?
    let requestEnded: LoopInstant?
    let responseStarted: LoopInstant?
    let responseEnded: LoopInstant?

    init(_ times: TransferTimes) {
        var order = Order(times.fetchStarted)
        let (dial, handshake) = (times.dial, times.handshake)
        let connected = handshake == nil ? dial?.connectEnded : handshake?.ended
        let hasLookup = !order.isOver(dial?.resolveEnded)
        let hasConnect = !order.isOver(connected)
        let hasHandshake = hasConnect && handshake != nil
        fetchStarted = times.fetchStarted
        lookupStarted = hasLookup ? order.next(dial?.resolveStarted) : nil
        lookupEnded = hasLookup ? order.next(dial?.resolveEnded) : nil
        connectStarted = hasConnect ? order.next(dial?.connectStarted) : nil
        secureStarted = hasHandshake ? order.next(handshake?.started) : nil
        secureEnded = hasHandshake ? order.next(handshake?.ended) : nil
        connectEnded = hasConnect ? order.next(connected) : nil
        requestStarted = order.next(times.requestStarted)
        let answered = times.responseStarted ?? .distantFuture
        requestEnded = order.next(times.requestEnded.map { min($0, answered) })
        responseStarted = order.next(times.responseStarted)
        responseEnded = order.next(times.responseEnded)
    }

    private struct Order {
        private let first: LoopInstant
        private var latest: LoopInstant

        init(_ first: LoopInstant) {
            self.first = first
            latest = first
        }

        func isOver(_ end: LoopInstant?) -> Bool { end.map { $0 < first } ?? false }

        mutating func next(_ instant: LoopInstant?) -> LoopInstant? {
            guard let instant else { return nil }
            latest = max(latest, instant)
            return latest
        }
    }
}
