package import AFLoop
package import AFWire

/// One request on its way to one final response: waiting for a connection, using
/// it, and once, where that is provably safe, trying again on a fresh one.
///
/// It has two clocks: the *idle* deadline moves on with every progress, and stands still while the peer is not to blame
/// for the wait; the *hard* deadline stands still only while the task is suspended.
package final class Transfer: PoolClient, DeadlineClient {
    /// What keeps the transfer from going on. Reading stops, and so the peer.
    package struct Pauses: OptionSet {
        package let rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The task is suspended.
        package static let suspended = Pauses(rawValue: 1)
        /// The delegate has not answered yet.
        package static let unanswered = Pauses(rawValue: 2)
        /// The consumer is behind.
        package static let backPressure = Pauses(rawValue: 4)
        /// The session has not decided yet whether the task gets this response.
        package static let undecided = Pauses(rawValue: 8)
        /// What was received is not decoded yet.
        package static let undecoded = Pauses(rawValue: 16)

        /// The session has not decided about the response, and has no room for more of its body.
        package static let full = Pauses(rawValue: 64)

        /// The session has received all that its rate limit allows for now.
        package static let share = Pauses(rawValue: 32)

        /// The pauses in which the task cannot end, though all may have arrived.
        package static let open: Pauses = [.unanswered, .undecided, .undecoded]
    }

    /// From 0, which is served last, to 1.
    static let usualPriority: Float = 0.5

    private static let usualPatience = LoopInterval(.seconds(120))
    private static let queuePatience = LoopInterval(.milliseconds(100))

    private enum Stage {
        case idle
        /// Its body is being opened, or begins again.
        case preparing
        case waiting
        /// Its task was suspended while it waited, and others go before it until it is resumed.
        case aside
        case redialing(ConnectionAttempt)
        case exchanging(any HTTPConnection)
        /// Pipelined: the server answers other requests first.
        case following(any HTTPConnection)
        case over
    }

    @exclusivity(unchecked) private var addressed: WireRequest
    // Stored properties of a class are checked for exclusive access where other modules use them: they get accessors.
    package var request: WireRequest { addressed }
    @exclusivity(unchecked) package private(set) var body: (any BodySource)?
    @exclusivity(unchecked) package private(set) var key: ConnectionKey
    private let idleInterval: LoopInterval
    @exclusivity(unchecked) package private(set) var times: TransferTimes
    /// The times of former attempts, before the request was sent once more.
    @exclusivity(unchecked) package private(set) var formerAttempts: [TransferTimes] = []
    @exclusivity(unchecked) package var observer: (any TransferObserver)?

    // MARK: The pool's
    @exclusivity(unchecked) var ticket = WaitTicket()
    @exclusivity(unchecked) var host: HostPool?

    private let pool: ConnectionPool
    private let loop: EventLoop
    private let deadlines: DeadlineWatch
    @exclusivity(unchecked) private var client: (any TransferClient)?
    @exclusivity(unchecked) private var stage = Stage.idle
    @exclusivity(unchecked) private var priority = Transfer.usualPriority
    @exclusivity(unchecked) private var hasRetried = false
    /// It was pipelined once, and its connection ended before its turn came.
    @exclusivity(unchecked) private var wasSentAhead = false
    @exclusivity(unchecked) private var isBodyAwaited = false
    /// Another transfer may have to send the body: this one does not close it.
    @exclusivity(unchecked) private var isBodyKept = false
    @exclusivity(unchecked) private var time: TaskTime
    /// When it has waited long enough for its turn.
    @exclusivity(unchecked) private var queueDeadline = LoopInstant.distantFuture
    @exclusivity(unchecked) private var lastProgress: LoopInstant
    // Side by side, these four take one word: a transfer that waits is small.
    /// Where the deadline is watched, from the start to the end; -1 before and after.
    @exclusivity(unchecked) private var watchPlace: Int32 = -1
    @exclusivity(unchecked) package private(set) var phase = TransferPhase.queued
    @exclusivity(unchecked) package private(set) var pauses: Pauses = []
    private let asksForPipelining: Bool

    package init(
        _ request: WireRequest,
        key: ConnectionKey,
        pool: ConnectionPool,
        loop: EventLoop,
        deadlines: DeadlineWatch,
        idleInterval: LoopInterval,
        time: TaskTime,
        asksForPipelining: Bool,
        client: any TransferClient
    ) {
        addressed = request.addressed(by: key.route)
        self.key = key
        self.pool = pool
        self.loop = loop
        self.deadlines = deadlines
        self.idleInterval = idleInterval
        self.time = time
        self.asksForPipelining = asksForPipelining
        self.client = client
        let now = loop.now
        lastProgress = now
        times = TransferTimes(fetchStarted: now)
    }

    // MARK: - From the client

    /// Waits for a body that is not there yet. Its owner may take as long as the whole task may.
    package func prepare() {
        stage = .preparing
        phase = .preparing
        watch()
    }

    /// - Parameter prepared: The request to send in place of the first one, if its body had to be opened before.
    package func start(_ prepared: WireRequest? = nil, priority: Float, body: (any BodySource)?) {
        if let prepared, prepared !== request { addressed = prepared.addressed(by: key.route) }
        self.body = body
        self.priority = priority
        // The rules may have changed while its body was being opened.
        if case .preparing = stage, !pool.present.isEmpty { renewKey(under: pool.present) }
        joinQueue()
    }

    private func joinQueue() {
        stage = .waiting
        phase = .queued
        times.queueStarted = loop.now
        if let interval = request.terms.limits?.queueInterval ?? pool.queueInterval {
            queueDeadline = loop.now + interval
        }
        noteProgress()
        watch()
        if pauses.contains(.suspended) { stage = .aside } else { enqueue() }
    }

    private func enqueue() {
        if !pool.enqueue(self, priority: priority) { fail(.impossibleSocketPath) }
    }

    /// Lets others go before it. A connection that is being made for it is theirs.
    private func stepAside() {
        switch stage {
        case .waiting: host?.withdraw(self)
        case .redialing(let attempt): host?.cancelRedial(attempt)
        case .idle, .preparing, .aside, .exchanging, .following, .over: return
        }
        host = nil
        stage = .aside
        phase = .queued
    }

    private func stepBack() {
        guard case .aside = stage else { return }
        stage = .waiting
        // The rules may have changed meanwhile.
        if !pool.present.isEmpty { renewKey(under: pool.present) }
        enqueue()
    }

    private func watch() {
        if watchPlace < 0 { watchPlace = Int32(clamping: deadlines.add(self)) }
        deadlines.deadlineChanged(to: deadline)
    }

    /// Ends the transfer without a word to the client. A connection in use is closed: what is still on its way must not
    /// meet the next request.
    package func cancel() {
        client = nil
        leave()
    }

    /// Leaves the client, which wants neither the response nor its end. If little of the response is missing, the
    /// transfer still reads it, so that the connection can be used again.
    ///
    /// - Parameters:
    ///   - length: The announced length, or -1.
    ///   - tap: Gets what is read.
    package func drain(expecting length: Int64, into tap: (any BodyTap)?) {
        guard case .exchanging(let connection) = stage, times.requestEnded != nil else { return cancel() }
        guard Sink.takes(length) else { return cancel() }
        client = Sink(tap)
        observer = nil
        pauses = []
        time.limit(to: loop.now + Sink.patience)
        noteProgress()
        deadlines.deadlineChanged(to: deadline)
        connection.goOn(with: self)
    }

    /// Ends the transfer, and gives away its channel. Nil if it has none, or not all was sent.
    package func surrenderChannel() -> (any ByteChannel)? {
        guard case .exchanging(let connection) = stage, let channel = connection.surrender() else { return nil }
        end()
        times.responseEnded = loop.now
        return channel
    }

    /// Whether the body stays open at the end, to go again.
    package var keepsBody: Bool {
        get { isBodyKept }
        set { isBodyKept = newValue }
    }

    /// Hands over the body that is kept: the transfer has no more to do with it.
    package func surrenderBody() -> (any BodySource)? {
        defer { body = nil }
        return body
    }

    package func changePriority(to priority: Float) {
        self.priority = priority
        if case .waiting = stage { host?.changePriority(of: self, to: priority) }
    }

    package func pause(_ reason: Pauses) {
        guard !pauses.contains(reason) else { return }
        pauses.insert(reason)
        if reason == .suspended {
            time.suspend(at: loop.now)
            stepAside()
        }
        if case .exchanging(let connection) = stage { connection.probePeer(for: self) }
    }

    package func unpause(_ reason: Pauses) {
        guard pauses.remove(reason) != nil else { return }
        if reason == .suspended {
            queueDeadline = queueDeadline + time.suspension(since: times.queueStarted, to: loop.now)
            time.resume(at: loop.now)
            stepBack()
        }
        noteProgress()
        deadlines.deadlineChanged(to: deadline)
        if pauses == .undecoded { client?.transferMayDecode(self) }
        if pauses.isEmpty, case .exchanging(let connection) = stage { connection.goOn(with: self) }
    }

    /// The response goes on for as long as the server likes: its connection is none of those that the host may have.
    package func holdConnectionApart() {
        if case .exchanging(let connection) = stage { host?.exempt(connection) }
    }

    /// As in its times, which are not copied where there are none.
    package var precedingHeads: [ResponseHead] {
        times.sideHeads != nil || times.connection?.isProxied == true ? times.precedingHeads : []
    }

    package func decoded(_ count: Int) {
        times.decodedBodyBytes += Int64(count)
    }

    /// The body has nothing to send, or has something again. Meanwhile its owner holds up the transfer, and not the
    /// peer.
    func bodyWaits(_ waits: Bool) {
        guard waits != isBodyAwaited else { return }
        isBodyAwaited = waits
        noteProgress()
        guard waits else { return deadlines.deadlineChanged(to: deadline) }
        if case .exchanging(let connection) = stage { connection.probePeer(for: self) }
    }

    // MARK: - From the pool

    func attemptFailed(_ error: TransferError, _ report: ConnectionReport) {
        times.connection = report
        times.isReused = false
        fail(error)
    }

    func wait(under present: [Int: SecurityContext]) {
        if times.requestStarted != nil { startOver() }
        host = nil
        renewKey(under: present)
        joinQueue()
    }

    private func renewKey(under present: [Int: SecurityContext]) {
        key = key.renewed(under: present).judged(by: client?.presentJudge(of: self))
    }

    package var handshakeDelegate: (any HandshakeDelegate)? { client?.handshakeDelegate }

    func depart() throws(Refusal) -> Permit {
        do throws(Refusal) {
            guard let client else { throw .ended }
            return try Departure.ask(isSuspended: pauses.contains(.suspended), isForbidden: client.forbids(addressed))
                .clear(hasItsRules: host?.isRetired == false)
        } catch {
            if error == .clearText { isForbidden() }
            throw error
        }
    }

    package func forbids(_ request: WireRequest) -> Bool { client?.forbids(request) ?? true }
    package func forbidsTunnel(to endpoint: Endpoint) -> Bool { client?.forbidsTunnel(to: endpoint) ?? true }

    func isForbidden() {
        client?.transferIsForbidden(self)
    }

    func exchangeBegins(on connection: any HTTPConnection) {
        stage = .exchanging(connection)
        phase = .sending
        times.isReused = connection.isReused
        times.connection = connection.made
        times.requestStarted = loop.now
        times.requestEnded = nil
        times.responseStarted = nil
        times.sideHeads = nil
        times.requestHeadBytes = 0
        times.requestBodyBytes = 0
        observer?.acquired(connection.made, isReused: connection.isReused)
        noteProgress()
    }

    /// RFC 9112 §9.3.2: an idempotent request may be pipelined. Not with a body, which the peer may stop taking, and
    /// never a second time: the request may have been to blame for the end of the first connection.
    var mayBePipelined: Bool {
        asksForPipelining && !hasRetried && !wasSentAhead && request.head.traits.isIdempotent && body == nil
            && !request.closesConnection && !request.opensWebSocket
    }

    func follow(on connection: any HTTPConnection) {
        exchangeBegins(on: connection)
        stage = .following(connection)
        phase = .queued
    }

    func sentAhead(headBytes: Int) {
        times.requestHeadBytes = Int64(headBytes)
        requestSent()
    }

    func leads(on connection: any HTTPConnection) {
        stage = .exchanging(connection)
        phase = .waitingForHead
        noteProgress()
        deadlines.deadlineChanged(to: deadline)
    }

    func lostItsTurn() {
        if host?.isRetired == true { wait(under: pool.present) } else { waitAgain() }
    }

    private func waitAgain() {
        wasSentAhead = true
        startOver()
        joinQueue()
    }

    // MARK: - From the connection

    /// An undecided response is read as far as there is room: its connection may then serve what the decision waits for.
    var isHeldUp: Bool { !pauses.subtracting(.undecided).isEmpty }
    var holdsBodyBack: Bool { pauses.contains(.suspended) }

    func shareIsSpent(_ isSpent: Bool) {
        if isSpent { pause(.share) } else { unpause(.share) }
    }

    func sent(headBytes: Int, bodyBytes: Int) {
        guard headBytes + bodyBytes > 0 else { return }
        times.requestHeadBytes += Int64(headBytes)
        noteProgress()
        guard bodyBytes > 0 else { return }
        times.requestBodyBytes += Int64(bodyBytes)
        observer?.bytesSent(total: times.requestBodyBytes)
        client?.transferSentBody(self, total: times.requestBodyBytes)
    }

    func requestSent() {
        times.requestEnded = loop.now
        observer?.requestSent(headBytes: times.requestHeadBytes, bodyBytes: times.requestBodyBytes)
        if phase == .sending { phase = .waitingForHead }
        bodyWaits(false)
        noteProgress()
    }

    func responseBegan() {
        if times.responseStarted == nil { times.responseStarted = loop.now }
    }

    func receivedInterim(_ head: ResponseHead) {
        // The body may have waited for it: the response itself has not begun.
        times.responseStarted = nil
        times.sideHeads = .adding(head, to: times.sideHeads)
        noteProgress()
    }

    func receivedHead(_ head: ResponseHead, headBytes: Int) {
        responseBegan()
        times.responseHeadBytes = Int64(headBytes)
        observer?.responseBegan(status: head.status, headBytes: Int64(headBytes))
        phase = .receivingBody
        noteProgress()
        client?.transferReceivedHead(self, head)
    }

    func receivedBody(_ bytes: UnsafeRawBufferPointer) {
        times.responseBodyBytes += Int64(bytes.count)
        observer?.bytesReceived(total: times.responseBodyBytes)
        noteProgress()
        client?.transferReceivedBody(self, bytes)
    }

    func receivedTrailers(_ trailers: HTTPHeaders) {
        times.sideHeads = .adding(trailers, to: times.sideHeads)
    }

    /// The connection is back in the pool, or closed, before this is called: the
    /// client may start another request at once, and should find it.
    func exchangeFinished() {
        times.responseEnded = loop.now
        guard let client else { return leave() }
        if !pauses.isDisjoint(with: .open) {
            // All has arrived, but the task cannot end yet, and its time goes on.
            stage = .over
            if !isBodyKept { body?.close() }
        } else {
            end()
        }
        client.transferFinished(self)
    }

    func exchangeFailed(_ error: TransferError) {
        fail(error)
    }

    /// RFC 9110 §9.2.2: only what is idempotent, or what provably was not acted on, is sent again by itself. And only
    /// once, and only if the connection had been used before, when its death is explained by its age.
    func mayRetry(reused: Bool, unprocessed: Bool) -> Bool {
        guard reused, !hasRetried, body?.mayReplay != false else { return false }
        return unprocessed || request.head.traits.isIdempotent && client?.transferMaySendAgain(self) != false
    }

    /// A server that answers 417 cannot say beforehand whether it wants a body. RFC 9110 §10.1.1 has the client repeat
    /// the request without the expectation.
    var mayDropExpectation: Bool { request.head.fields.contains("Expect") && body?.mayReplay != false }

    func dropExpectation() {
        addressed = request.changing { $0.fields.remove("Expect") }
    }

    func retry() {
        hasRetried = true
        startOver()
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

    /// Begins anew: puts the times of this attempt aside, and asks the client for the request to send.
    private func startOver() {
        formerAttempts.append(times)
        times = TransferTimes(fetchStarted: loop.now)
        // Its former connection waited for a share of the rate limit; the next one asks for its own.
        pauses.remove(.share)
        observer?.retried()
        if let client { addressed = client.requestToSendAgain(self) }
    }

    private func retryOnFreshConnection() {
        guard let host else { return }
        guard !host.isRetired, !pauses.contains(.suspended) else {
            host.leftBetweenConnections()
            return wait(under: pool.present)
        }
        phase = .connecting
        noteProgress()
        stage = .redialing(host.redial(for: self))
    }

    // MARK: - Ending

    private func fail(_ error: TransferError) {
        guard let client else { return leave() }
        end()
        client.transferFailed(self, error)
    }

    private func end() {
        // The connection it had is gone, and another is not asked for yet.
        if case .preparing = stage { host?.leftBetweenConnections() }
        stage = .over
        client = nil
        if !isBodyKept { body?.close() }
        if watchPlace >= 0 { deadlines.remove(at: Int(watchPlace)) }
        watchPlace = -1
    }

    private func leave() {
        let left = stage
        end()
        switch left {
        case .idle, .preparing, .aside, .over: break
        case .waiting:
            if host?.isDialling(for: self) == true { times.connection = host?.attemptReport }
            host?.withdraw(self)
        case .redialing(let attempt):
            times.connection = attempt.report()
            host?.cancelRedial(attempt)
        case .exchanging(let connection), .following(let connection): connection.abandon(self)
        }
    }

    // MARK: - Time

    /// Waits so long for progress that the kernel has to find out whether the peer is still there.
    var outlastsPeers: Bool { idleInterval.nanoseconds > Transfer.usualPatience.nanoseconds }

    private func noteProgress() {
        lastProgress = loop.now
    }

    package var deadline: LoopInstant {
        if pauses.contains(.suspended) { return .distantFuture }
        switch stage {
        case .preparing: return time.deadline
        // The response has arrived, so the peer owes nothing.
        case .over: return time.deadline
        case .waiting where queueDeadline != .distantFuture:
            return min(queueDeadline, silentSince + idleInterval, time.deadline)
        case .idle, .waiting, .aside, .redialing, .exchanging, .following: break
        }
        guard pauses.isEmpty, !isBodyAwaited else { return time.deadline }
        return min(silentSince + idleInterval, time.deadline)
    }

    /// Since when nothing has happened. As long as the host serves others, to wait for one's turn is no silence.
    private var silentSince: LoopInstant {
        guard case .waiting = stage, let turn = host?.lastTurn else { return lastProgress }
        return max(lastProgress, turn)
    }

    func holder(at host: HostPool) -> Int? {
        guard self.host === host, case .exchanging = stage else { return nil }
        return client?.taskNumber
    }

    package func deadlinePassed() {
        if case .following(let connection) = stage, loop.now < time.deadline {
            // The requests before it take too long.
            connection.abandon(self)
            return waitAgain()
        }
        if case .waiting = stage, isAboutToBeServed { return }
        let client = client
        let error = lateness
        // The connection that it waited for. Not if it has only waited for its turn: others are connecting.
        if case .waiting = stage, !hasTimeLeft, let report = host?.attemptReport { times.connection = report }
        self.client = nil
        leave()
        client?.transferFailed(self, error)
    }

    /// Whether a connection is being made for it: then its turn has come, and the dial has a timeout of its own. It
    /// asks again after `queuePatience`, since another request may get that connection.
    private var isAboutToBeServed: Bool {
        guard hasTimeLeft, host?.isDialling(for: self) == true else { return false }
        queueDeadline = loop.now + Transfer.queuePatience
        deadlines.deadlineChanged(to: deadline)
        return true
    }

    /// Whether at most its time in the queue is over.
    private var hasTimeLeft: Bool { loop.now < time.deadline && loop.now < silentSince + idleInterval }

    /// The error for the deadline that has passed.
    private var lateness: TransferError {
        let phase = currentPhase
        if time.deadline <= loop.now { return .outOfTime(phase) }
        let isIdle = silentSince + idleInterval <= loop.now
        guard case .waiting = stage, phase == .queued || !isIdle, let host else {
            return .timedOut(phase, silentSince.duration(to: loop.now))
        }
        let report = host.queueReport(holders: deadlines.holders(at: host, atMost: 10), isQueueTime: !isIdle)
        return .unserved(report, (isIdle ? silentSince : times.queueStarted).duration(to: loop.now))
    }

    private var currentPhase: TransferPhase {
        switch stage {
        case .waiting: host?.attemptPhase ?? phase
        case .redialing(let attempt): attempt.phase
        case .idle, .preparing, .aside, .exchanging, .following, .over: phase
        }
    }
}
