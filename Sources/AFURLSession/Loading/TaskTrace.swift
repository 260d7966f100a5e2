import AFLoop
import AFTransport
import AFWire
import Foundation

/// Tells the monitors of a session what one task does. Confined to the loop; sessions without monitors make none.
final class TaskTrace: TransferObserver {
    private static let mask = SecretMask()

    private let events: EventDispatcher
    private var task: Int
    private var exchange: Int?
    private var connection: Int?
    private var isSuspended = true
    /// The part of the body that the owner has got, if a monitor keeps bodies.
    private(set) var body: BodyExcerpt?
    /// The messages of a WebSocket, on the same terms.
    private(set) var messages: RecordedMessages?

    init(task: Int, events: EventDispatcher) {
        self.events = events
        self.task = task
        let limit = events.recorders.map(\.longestBody).max()
        body = limit.map(BodyExcerpt.init)
        messages = limit.map(RecordedMessages.init)
    }

    func note(_ kind: SessionEvent.Kind) {
        events.post(kind, task: task, exchange: exchange, connection: connection)
    }

    // MARK: - The task

    func resumed() {
        guard isSuspended else { return }
        isSuspended = false
        note(.resumed)
    }

    func suspended() {
        guard !isSuspended else { return }
        isSuspended = true
        note(.suspended)
    }

    func became(_ number: Int, isStream: Bool) {
        note(isStream ? .becameStream(task: number) : .becameDownload(task: number))
        task = number
    }

    func completed(_ outcome: SessionEvent.Outcome, exchanges: @autoclosure () -> [RecordedExchange]) {
        note(.completed(outcome))
        guard !events.recorders.isEmpty else { return }
        let exchanges = exchanges()
        for recorder in events.recorders { recorder.record(exchanges, of: task) }
    }

    // MARK: - Its exchanges

    func began(_ request: WireRequest) {
        nextExchange()
        note(.fetchStarted(method: request.method, url: TaskTrace.mask.url(request.location)))
    }

    func retried() {
        note(.retried)
        nextExchange()
    }

    /// - Parameter attempt: The number of the next attempt.
    func retries(as attempt: Int, after wait: Duration) {
        note(.retryScheduled(attempt: attempt, seconds: max(wait, .zero).inSeconds))
    }

    private func nextExchange() {
        exchange = (exchange ?? 0) + 1
        connection = nil
    }

    func acquired(_ connection: ConnectionReport, isReused: Bool) {
        self.connection = connection.number
        note(.connectionAcquired(isReused: isReused))
    }

    func bytesSent(total: Int64) { note(.bytesSent(total: total)) }

    func requestSent(headBytes: Int64, bodyBytes: Int64) {
        note(.requestSent(headBytes: headBytes, bodyBytes: bodyBytes))
    }

    func responseBegan(status: Int, headBytes: Int64) { note(.response(status: status, headBytes: headBytes)) }

    func bytesReceived(total: Int64) { note(.bytesReceived(total: total)) }

    func redirected(_ status: Int, to url: URL?) {
        note(.redirected(status: status, to: url.map(TaskTrace.mask.url) ?? ""))
    }

    func challenged(_ space: URLProtectionSpace, failures: Int) {
        note(.challenged(SessionEvent.Challenge(space, failures: failures)))
    }

    /// The cache has answered: no exchange is on the network.
    func servedFromCache() {
        nextExchange()
        note(.cacheHit)
    }

    // MARK: - The body

    func delivered(_ bytes: UnsafeRawBufferPointer) { body?.append(bytes) }

    func forgetBody() { body?.removeAll() }

    // MARK: - Messages of a WebSocket

    func sent(_ message: WebSocketMessage, at instant: LoopInstant) {
        note(.messageSent(bytes: message.byteCount, isText: message.isText))
        messages?.append(message, isSent: true, at: instant)
    }

    func received(_ message: WebSocketMessage, at instant: LoopInstant) {
        note(.messageReceived(bytes: message.byteCount, isText: message.isText))
        messages?.append(message, isSent: false, at: instant)
    }
}

extension SessionEvent.Challenge {
    init(_ space: URLProtectionSpace, failures: Int) {
        method = space.authenticationMethod
        host = space.host
        port = space.port
        realm = space.realm
        isProxy = space.isProxy()
        previousFailureCount = failures
    }
}

extension EventDispatcher {
    func challenged(_ task: Int, space: URLProtectionSpace) {
        post(.challenged(SessionEvent.Challenge(space, failures: 0)), task: task)
    }
}
