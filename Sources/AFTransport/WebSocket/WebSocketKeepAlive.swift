import AFBase
import AFLoop

/// Numbers the pings of a WebSocket, and decides when a silent server is asked whether it is there. Confined to the loop.
///
/// ```
///           silent for an interval: ping
///           ┌──────────────────────────▶
/// listening                              asking ──▶ no answer in time: give up
///           ◀──────────────────────────┘
///             the server sends anything
/// ```
final class WebSocketKeepAlive {
    /// What the connection has to do.
    enum Order {
        case ping([UInt8])
        case giveUp(WebSocketFailure)
    }

    typealias Completion = (WebSocketFailure?) -> Void

    private enum State {
        case stopped
        /// Until the server may have been silent for an interval.
        case listening(PausableTimer)
        /// Until the server has taken too long for an answer.
        case asking(PausableTimer)

        var timer: PausableTimer? {
            switch self {
            case .stopped: nil
            case .listening(let timer), .asking(let timer): timer
            }
        }
    }

    private let loop: EventLoop
    private let interval: LoopInterval?
    private let patience: LoopInterval
    private let order: (Order) -> Void
    @exclusivity(unchecked) private var state = State.stopped
    private var isPaused = false
    /// The ping that asks has been written.
    private var hasPingLeft = false
    @exclusivity(unchecked) private var lastHeard = LoopInstant.distantFuture
    /// The pings that the server has not answered.
    private var pings = Fifo<(number: UInt64, completion: Completion?)>()
    private var count: UInt64 = 0

    /// - Parameters:
    ///   - interval: How long the server may be silent. Nil: it is not asked.
    ///   - patience: How long it may take for the answer then.
    ///   - order: Gets what is to be done.
    init(every interval: LoopInterval?, patience: LoopInterval, on loop: EventLoop, order: @escaping (Order) -> Void) {
        self.interval = interval
        self.patience = patience
        self.loop = loop
        self.order = order
    }

    // MARK: - The server

    /// The connection is open.
    func start() {
        lastHeard = loop.now
        listen()
    }

    /// The server has sent something. Whatever it is, the server is there.
    func heard() {
        lastHeard = loop.now
        guard case .asking(let timer) = state else { return }
        timer.stop()
        listen()
    }

    /// Bytes were written. The server can answer the ping only when those in front of it have left, too.
    func bytesLeft(andPing hasPingLeft: () -> Bool) {
        guard case .asking(let timer) = state, !self.hasPingLeft else { return }
        self.hasPingLeft = hasPingLeft()
        let isRunning = timer.isRunning
        timer.stop()
        let fresh = patienceTimer()
        if !isRunning { fresh.stop() }
        state = .asking(fresh)
    }

    /// The answer may stand behind messages that the client does not take: then the server is not to blame.
    func clientTakesMessages(_ takesMessages: Bool) {
        guard case .asking(let timer) = state, !isPaused else { return }
        if takesMessages { timer.start() } else { timer.stop() }
    }

    private func listen() {
        guard let interval else { return }
        let silence = lastHeard.nanoseconds(to: loop.now)
        let rest = LoopInterval(.nanoseconds(max(interval.nanoseconds - silence, 1_000_000)))
        state = .listening(timer(after: rest) { $0.askIfSilent(for: interval) })
    }

    private func askIfSilent(for interval: LoopInterval) {
        guard lastHeard.nanoseconds(to: loop.now) >= interval.nanoseconds else { return listen() }
        hasPingLeft = false
        state = .asking(patienceTimer())
        ping(nil)
    }

    private func patienceTimer() -> PausableTimer {
        timer(after: patience) { $0.order(.giveUp(.noPong(.nanoseconds($0.patience.nanoseconds)))) }
    }

    private func timer(after interval: LoopInterval, over: @escaping (WebSocketKeepAlive) -> Void) -> PausableTimer {
        let timer = PausableTimer(after: interval, on: loop) { [weak self] in self.map(over) }
        if !isPaused { timer.start() }
        return timer
    }

    // MARK: - Pauses

    func pause() {
        isPaused = true
        state.timer?.stop()
    }

    func resume() {
        isPaused = false
        state.timer?.start()
    }

    /// The connection closes: from now on its end is what is waited for.
    func stop() {
        state.timer?.stop()
        state = .stopped
    }

    // MARK: - Pings

    func ping(_ completion: Completion?) {
        count += 1
        pings.append((count, completion))
        order(.ping(withUnsafeBytes(of: count.bigEndian) { Array($0) }))
    }

    func received(pong payload: [UInt8]) {
        guard payload.count == 8 else { return }
        let number = payload.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard let first = pings.first, (first.number...count).contains(number) else { return }
        // RFC 6455 §5.5.3: a server may answer only the newest ping.
        while let ping = pings.first, ping.number <= number {
            _ = pings.popFirst()
            ping.completion?(nil)
        }
    }

    /// Everything whose callers wait for an answer.
    func takeAll() -> [Completion] { pings.takeAll().compactMap(\.completion) }
}
