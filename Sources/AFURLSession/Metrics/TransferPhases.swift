import AFLoop
import AFTransport

/// The phases of one attempt, from which the dates of its metrics are made. Each begins where the one before it ended,
/// or later.
///
/// - The pool may have begun the connection before this request came, for another one that no longer needs it. A phase
///   that was over by then is no phase of this request; one that was not over begins with the request.
/// - A response may begin before its request has ended. Then the request counts as ended.
struct TransferPhases: Sendable {
    let fetchStarted: LoopInstant
    let lookupStarted: LoopInstant?
    let lookupEnded: LoopInstant?
    let connectStarted: LoopInstant?
    let secureStarted: LoopInstant?
    let secureEnded: LoopInstant?
    /// When the connection could be used: for https, after the TLS handshake.
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
