import AFLoop
import AFWire

/// Hears what becomes of a transfer, on the loop, in wire order, and nothing after
/// `transferFinished` or `transferFailed`.
protocol TransferClient: AnyObject {
    /// Who may be asked about the server, if anybody.
    var handshakeDelegate: (any HandshakeDelegate)? { get }
    func transferSentBody(_ transfer: Transfer, total: Int64)
    func transferReceivedHead(_ transfer: Transfer, _ head: ResponseHead)
    /// The bytes are gone when this returns.
    func transferReceivedBody(_ transfer: Transfer, _ bytes: UnsafeRawBufferPointer)
    func transferFinished(_ transfer: Transfer)
    func transferFailed(_ transfer: Transfer, _ error: TransferError)
}

/// One request on its way to one final response: waiting for a connection, using
/// it, and once, where that is provably safe, trying again on a fresh one.
///
/// It has two clocks: the *idle* deadline moves on with every progress
/// and stands still while somebody else is to blame for the wait; the *hard*
/// deadline stands still only while the task is suspended.
final class Transfer: QueuedWaiter {
    /// Who keeps the transfer from going on. Reading stops, and so the peer.
    struct Pauses: OptionSet {
        let rawValue: UInt8

        /// The task is suspended.
        static let suspended = Pauses(rawValue: 1)
        /// The delegate has not answered yet.
        static let unanswered = Pauses(rawValue: 2)
        /// The consumer is behind.
        static let backPressure = Pauses(rawValue: 4)
    }

    private static let usualPatience = LoopInterval(.seconds(120))

    private enum Stage {
        case idle
        /// Its body is got ready.
        case preparing
        case waiting
        case redialing(ConnectionAttempt)
        case exchanging(HTTPConnection)
        /// Sent ahead; others are answered first.
        case following(HTTPConnection)
        case over
    }

    @exclusivity(unchecked) private(set) var request: FrozenRequest
    @exclusivity(unchecked) private(set) var body: (any BodySource)?
    @exclusivity(unchecked) private(set) var key: ConnectionKey
    private let idleInterval: LoopInterval
    @exclusivity(unchecked) private(set) var times: TransferTimes
    @exclusivity(unchecked) private(set) var phase = TransferPhase.queued
    @exclusivity(unchecked) private(set) var pauses: Pauses = []

    // MARK: The pool's
    @exclusivity(unchecked) var ticket = WaitTicket()
    @exclusivity(unchecked) var peer: Peer?

    private let pool: ConnectionPool
    private let loop: EventLoop
    private let deadlines: DeadlineWatch
    @exclusivity(unchecked) private var client: (any TransferClient)?
    @exclusivity(unchecked) private var stage = Stage.idle
    @exclusivity(unchecked) private var priority = URLSessionTask.defaultPriority
    @exclusivity(unchecked) private var hasRetried = false
    /// It was sent ahead once, and its connection ended before its turn came.
    @exclusivity(unchecked) private var wasSentAhead = false
    @exclusivity(unchecked) private var isBodyAwaited = false
    private let asksForPipelining: Bool
    @exclusivity(unchecked) private(set) var hardDeadline: LoopInstant
    @exclusivity(unchecked) private var suspendedSince: LoopInstant?
    @exclusivity(unchecked) private var lastProgress: LoopInstant
    /// Where the deadline is watched, from the start to the end.
    @exclusivity(unchecked) private var watchPlace: Int?

    init(
        _ request: FrozenRequest,
        key: ConnectionKey,
        pool: ConnectionPool,
        loop: EventLoop,
        deadlines: DeadlineWatch,
        idleInterval: LoopInterval,
        hardDeadline: LoopInstant,
        asksForPipelining: Bool,
        client: any TransferClient
    ) {
        self.request = request
        self.key = key
        self.pool = pool
        self.loop = loop
        self.deadlines = deadlines
        self.idleInterval = idleInterval
        self.hardDeadline = hardDeadline
        self.asksForPipelining = asksForPipelining
        self.client = client
        lastProgress = loop.now
        times = TransferTimes(fetchStarted: loop.now)
    }

    // MARK: - From the client

    /// The body is not there yet. Its owner takes as long as it takes, but not longer
    /// than the whole task may.
    func prepare() {
        stage = .preparing
        phase = .preparing
        watch()
    }

    /// - Parameter prepared: What is sent in place of the request, if its body had to be
    ///   got ready.
    func start(_ prepared: FrozenRequest? = nil, priority: Float, body: (any BodySource)?) {
        if let prepared { request = prepared }
        self.body = body
        self.priority = priority
        stage = .waiting
        phase = .queued
        lastProgress = loop.now
        watch()
        if !pool.enqueue(self, priority: priority) { fail(.impossibleSocketPath) }
    }

    private func watch() {
        if watchPlace == nil { watchPlace = deadlines.add(self) }
        deadlines.deadlineChanged(to: deadline)
    }

    /// The client hears nothing any more. A connection in use is closed: what is
    /// still on its way must not meet the next request.
    func cancel() {
        client = nil
        leave()
    }

    func changePriority(to priority: Float) {
        self.priority = priority
        if case .waiting = stage { pool.changePriority(of: self, to: priority) }
    }

    func pause(_ reason: Pauses) {
        guard !pauses.contains(reason) else { return }
        pauses.insert(reason)
        if reason == .suspended { suspendedSince = loop.now }
        if case .exchanging(let connection) = stage { connection.probePeer() }
    }

    func unpause(_ reason: Pauses) {
        guard pauses.remove(reason) != nil else { return }
        if reason == .suspended, let since = suspendedSince {
            hardDeadline = hardDeadline + since.duration(to: loop.now)
            suspendedSince = nil
        }
        noteProgress()
        deadlines.deadlineChanged(to: deadline)
        if pauses.isEmpty, case .exchanging(let connection) = stage { connection.goOn() }
    }

    /// The body has nothing to send, or has again: its owner is to blame, and no peer.
    func bodyWaits(_ waits: Bool) {
        guard waits != isBodyAwaited else { return }
        isBodyAwaited = waits
        noteProgress()
        guard waits else { return deadlines.deadlineChanged(to: deadline) }
        if case .exchanging(let connection) = stage { connection.probePeer() }
    }

    // MARK: - From the pool

    func attemptFailed(_ error: TransferError, _ report: ConnectionReport) {
        times.connection = report
        times.isReused = false
        fail(error)
    }

    /// The rules for secured connections have changed, and it has none yet.
    func wait(under security: SecurityContext, in pool: ConnectionPool) {
        stage = .waiting
        phase = .queued
        peer = nil
        key = ConnectionKey(endpoint: key.endpoint, unixPath: key.unixPath, security: security)
        noteProgress()
        deadlines.deadlineChanged(to: deadline)
        if !pool.enqueue(self, priority: priority) { fail(.impossibleSocketPath) }
    }

    var handshakeDelegate: (any HandshakeDelegate)? { client?.handshakeDelegate }

    func exchangeBegins(on connection: HTTPConnection) {
        stage = .exchanging(connection)
        phase = .sending
        times.isReused = connection.isReused
        times.connection = connection.made
        times.requestStarted = loop.now
        times.requestHeadBytes = 0
        times.requestBodyBytes = 0
        noteProgress()
    }

    /// RFC 9112 §9.3.2: what is idempotent may be sent ahead. Not with a body, of which the
    /// peer may take no more, and never a second time: it may have been to blame for the
    /// end of the first connection.
    var mayBePipelined: Bool {
        asksForPipelining && !hasRetried && !wasSentAhead && request.isIdempotent && body == nil
            && !request.closesConnection
    }

    /// Sent behind others. Until its turn comes they are to blame for the wait.
    func follows(on connection: HTTPConnection) {
        exchangeBegins(on: connection)
        stage = .following(connection)
        phase = .queued
    }

    func sentAhead() {
        times.requestHeadBytes = Int64(request.headBytes.count)
        requestSent()
    }

    func leads(on connection: HTTPConnection) {
        stage = .exchanging(connection)
        phase = .waitingForHead
        noteProgress()
        deadlines.deadlineChanged(to: deadline)
    }

    /// Its connection ended before its turn came.
    func waitAgain(in pool: ConnectionPool) {
        wasSentAhead = true
        stage = .waiting
        phase = .queued
        noteProgress()
        deadlines.deadlineChanged(to: deadline)
        if !pool.enqueue(self, priority: priority) { fail(.impossibleSocketPath) }
    }

    // MARK: - From the connection

    func sent(headBytes: Int, bodyBytes: Int) {
        times.requestHeadBytes += Int64(headBytes)
        noteProgress()
        guard bodyBytes > 0 else { return }
        times.requestBodyBytes += Int64(bodyBytes)
        client?.transferSentBody(self, total: times.requestBodyBytes)
    }

    func requestSent() {
        times.requestEnded = loop.now
        if phase == .sending { phase = .waitingForHead }
        bodyWaits(false)
        noteProgress()
    }

    func responseBegan() {
        if times.responseStarted == nil { times.responseStarted = loop.now }
    }

    func receivedInterim() {
        noteProgress()
    }

    func receivedHead(_ head: ResponseHead, headBytes: Int) {
        times.responseHeadBytes = Int64(headBytes)
        phase = .receivingBody
        bodyWaits(false)
        noteProgress()
        client?.transferReceivedHead(self, head)
    }

    func receivedBody(_ bytes: UnsafeRawBufferPointer) {
        times.responseBodyBytes += Int64(bytes.count)
        noteProgress()
        client?.transferReceivedBody(self, bytes)
    }

    /// The connection is back in the pool, or closed, before this is called: the
    /// client may start another request at once, and should find it.
    func exchangeFinished() {
        times.responseEnded = loop.now
        guard let client else { return leave() }
        if pauses.contains(.unanswered) {
            // All has arrived, but the task cannot end yet, and its time goes on.
            stage = .over
            body?.close()
        } else {
            end()
        }
        client.transferFinished(self)
    }

    func exchangeFailed(_ error: TransferError) {
        fail(error)
    }

    /// RFC 9110 §9.2.2: only what is idempotent, or what provably was not acted on, is
    /// sent again by itself. And only once, and only if the connection had been used
    /// before, when its death is explained by its age.
    func mayRetry(reused: Bool, unprocessed: Bool) -> Bool {
        reused && !hasRetried && (request.isIdempotent || unprocessed) && body?.mayReplay != false
    }

    /// A server that answers 417 cannot tell beforehand; RFC 9110 §10.1.1 has the request
    /// repeated without asking.
    func mayDropExpectation() -> Bool {
        request.expectation != nil && body?.mayReplay != false
    }

    func dropExpectation() {
        request = request.withoutExpectation
    }

    func retry() {
        hasRetried = true
        isBodyAwaited = false
        guard let body else { return retryOnFreshConnection() }
        stage = .preparing
        phase = .preparing
        noteProgress()
        body.rewind { [self] failure in
            guard case .preparing = stage else { return }
            if let failure { fail(.body(failure)) } else { retryOnFreshConnection() }
        }
    }

    private func retryOnFreshConnection() {
        guard let peer else { return }
        guard !peer.isRetired else { return pool.requeue(self) }
        phase = .connecting
        noteProgress()
        stage = .redialing(peer.redial(for: self))
    }

    // MARK: - Ending

    private func fail(_ error: TransferError) {
        guard let client else { return leave() }
        end()
        client.transferFailed(self, error)
    }

    private func end() {
        // The connection it had is gone, and another is not asked for yet.
        if case .preparing = stage { pool.gaveUpBetweenConnections(self) }
        stage = .over
        client = nil
        body?.close()
        if let watchPlace { deadlines.remove(at: watchPlace) }
        watchPlace = nil
    }

    private func leave() {
        let left = stage
        end()
        switch left {
        case .idle, .preparing, .over: break
        case .waiting: pool.withdraw(self)
        case .redialing(let attempt): peer?.cancelRedial(attempt)
        case .exchanging(let connection), .following(let connection): connection.abandon(self)
        }
    }

    // MARK: - Time

    /// Waits so long for progress that somebody else has to find out whether the peer is
    /// still there.
    var outlastsPeers: Bool { idleInterval.nanoseconds > Transfer.usualPatience.nanoseconds }

    private func noteProgress() {
        lastProgress = loop.now
    }

    var deadline: LoopInstant {
        if pauses.contains(.suspended) { return .distantFuture }
        switch stage {
        case .preparing: return hardDeadline
        case .idle, .waiting, .redialing, .exchanging, .following, .over: break
        }
        return pauses.isEmpty && !isBodyAwaited ? min(lastProgress + idleInterval, hardDeadline) : hardDeadline
    }

    func deadlinePassed() {
        if case .following(let connection) = stage, loop.now < hardDeadline {
            // Whoever is in front takes too long.
            connection.abandon(self)
            return waitAgain(in: pool)
        }
        let client = client
        let idle = lastProgress.duration(to: loop.now)
        let error: TransferError = hardDeadline <= loop.now ? .outOfTime(currentPhase) : .timedOut(currentPhase, idle)
        self.client = nil
        leave()
        client?.transferFailed(self, error)
    }

    private var currentPhase: TransferPhase {
        switch stage {
        case .waiting: peer?.attemptPhase ?? phase
        case .redialing(let attempt): attempt.phase
        case .idle, .preparing, .exchanging, .following, .over: phase
        }
    }
}
