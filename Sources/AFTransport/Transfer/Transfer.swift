package import AFLoop
package import AFWire

/// One request on its way to one final response: waiting for a connection, using
/// it, and once, where that is provably safe, trying again on a fresh one.
///
/// `TransferMachine` decides where it stands, and has a drawing.
///
/// It has two clocks: the *idle* deadline moves on with every progress, and stands still while the peer is not to blame
/// for the wait; the *hard* deadline stands still only while the task is suspended.
package final class Transfer: PoolClient, DeadlineClient {
    package typealias Pauses = TransferPauses

    /// From 0, which is served last, to 1.
    static let usualPriority: Float = 0.5

    private static let usualPatience = LoopInterval(.seconds(120))
    private static let queuePatience = LoopInterval(.milliseconds(100))

    @exclusivity(unchecked) private var addressed: WireRequest
    // Stored properties of a class are checked for exclusive access where other modules use them: they get accessors.
    package var request: WireRequest { addressed }
    @exclusivity(unchecked) package private(set) var body: (any BodySource)?
    @exclusivity(unchecked) package private(set) var key: ConnectionKey
    private let idleInterval: LoopInterval
    @exclusivity(unchecked) package private(set) var times: TransferTimes
    /// The times of former attempts, before the request was sent once more.
    @exclusivity(unchecked) package private(set) var formerAttempts: [TransferTimes] = []
    /// The times if there was one attempt. Computed here, where the attribute holds.
    package var onlyAttempt: TransferTimes? { formerAttempts.isEmpty ? times : nil }
    @exclusivity(unchecked) package var observer: (any TransferObserver)?

    // MARK: The pool's
    @exclusivity(unchecked) var ticket = WaitTicket()
    @exclusivity(unchecked) var host: HostPool?

    private let pool: ConnectionPool
    private let loop: EventLoop
    private let deadlines: DeadlineWatch
    @exclusivity(unchecked) private var client: (any TransferClient)?
    /// What carries it, while it is `exchanging` or `following`.
    @exclusivity(unchecked) private var connection: (any HTTPConnection)?
    /// The connection that is being made for it alone, while it is `redialing`.
    @exclusivity(unchecked) private var attempt: ConnectionAttempt?
    @exclusivity(unchecked) private var priority = Transfer.usualPriority
    @exclusivity(unchecked) private var time: TaskTime
    /// When it has waited long enough for its turn.
    @exclusivity(unchecked) private var queueDeadline = LoopInstant.distantFuture
    @exclusivity(unchecked) private var lastProgress: LoopInstant
    // Side by side, these take two words: a transfer that waits is small.
    @exclusivity(unchecked) private var machine = TransferMachine()
    /// Another transfer may have to send the body: this one does not close it.
    @exclusivity(unchecked) private var isBodyKept = false
    /// Where the deadline is watched, from the start to the end; -1 before and after.
    @exclusivity(unchecked) private var watchPlace: Int32 = -1
    @exclusivity(unchecked) package private(set) var phase = TransferPhase.queued
    private let asksForPipelining: Bool

    package init(
        request: WireRequest,
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
        take(.prepare)
        phase = .preparing
        watch()
    }

    /// - Parameter prepared: The request to send in place of the first one, if its body had to be opened before.
    package func start(_ prepared: WireRequest? = nil, priority: Float, body: (any BodySource)?) {
        guard machine.state != .over else { return body?.close() ?? () }
        if let prepared, prepared !== request { addressed = prepared.addressed(by: key.route) }
        self.body = body
        self.priority = priority
        take(.ready)
    }

    private func watch() {
        if watchPlace < 0 { watchPlace = Int32(clamping: deadlines.add(self)) }
        deadlines.deadlineChanged(to: deadline)
    }

    /// Ends the transfer without a word to the client. A connection in use is closed: what is still on its way must not
    /// meet the next request.
    package func cancel() {
        // It has nothing more to give up, unless its body was kept.
        guard machine.state != .over || body != nil else { return }
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
        guard machine.state == .exchanging, times.requestEnded != nil else { return cancel() }
        guard Sink.takes(length) else { return cancel() }
        client = Sink(tap)
        observer = nil
        machine.forgetPauses()
        time.limit(to: loop.now + Sink.patience)
        noteProgress()
        deadlines.deadlineChanged(to: deadline)
        connection?.goOn(with: self)
    }

    /// Ends the transfer, and gives away its channel. Nil if it has none, or not all was sent.
    package func surrenderChannel() -> (any ByteChannel)? {
        guard machine.state == .exchanging, let channel = connection?.surrender() else { return nil }
        take(.ended)
        self.connection = nil
        forget()
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
        if machine.state == .waiting { host?.changePriority(of: self, to: priority) }
    }

    package var pauses: Pauses { machine.pauses }

    package func pause(_ reason: Pauses) {
        guard machine.pause(reason) else { return }
        if reason == .suspended {
            time.suspend(at: loop.now)
            take(.suspended)
        }
        probePeer()
    }

    package func unpause(_ reason: Pauses) {
        guard machine.unpause(reason) else { return }
        if reason == .suspended {
            queueDeadline = queueDeadline + time.suspension(since: times.queueStarted, to: loop.now)
            time.resume(at: loop.now)
            take(.resumed)
        }
        noteProgress()
        deadlines.deadlineChanged(to: deadline)
        if pauses == .undecoded { client?.transferMayDecode(self) }
        if pauses.isEmpty, machine.state == .exchanging { connection?.goOn(with: self) }
    }

    private func probePeer() {
        if machine.state == .exchanging { connection?.probePeer(for: self) }
    }

    /// The response goes on for as long as the server likes: its connection is none of those that the host may have.
    package func holdConnectionApart() {
        if machine.state == .exchanging, let connection { host?.exempt(connection) }
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
        guard waits != machine.isBodyAwaited else { return }
        machine.isBodyAwaited = waits
        noteProgress()
        if waits { probePeer() } else { deadlines.deadlineChanged(to: deadline) }
    }

    // MARK: - From the pool

    func attemptFailed(_ error: TransferError, report: ConnectionReport) {
        times.connection = report
        times.isReused = false
        fail(error)
    }

    func rulesChanged() {
        take(.rulesChanged)
    }

    package var handshakeDelegate: (any HandshakeDelegate)? { client?.handshakeDelegate }

    func depart() throws(Refusal) -> Permit {
        do throws(Refusal) {
            guard let client else { throw .ended }
            return try Departure.ask(isSuspended: machine.isSuspended, isForbidden: client.forbids(addressed))
                .clear(hasItsRules: host?.isRetired == false)
        } catch {
            if error == .clearText { connectionForbidden() }
            throw error
        }
    }

    package func forbids(_ request: WireRequest) -> Bool { client?.forbids(request) ?? true }
    package func forbidsTunnel(to endpoint: Endpoint) -> Bool { client?.forbidsTunnel(to: endpoint) ?? true }

    func connectionForbidden() {
        client?.transferIsForbidden(self)
    }

    func exchangeBegins(on connection: any HTTPConnection) {
        carry(on: connection, event: .began)
        phase = .sending
    }

    @inline(__always)
    private func carry(on connection: any HTTPConnection, event: TransferMachine.Event) {
        take(event)
        attempt = nil
        self.connection = connection
        times.isReused = connection.isReused
        times.connection = connection.made
        times.requestStarted = loop.now
        times.requestEnded = nil
        times.responseStarted = nil
        times.sideHeads = nil
        times.requestHeadBytes = 0
        times.requestBodyBytes = 0
        times.requestContentBytes = 0
        observer?.acquired(connection.made, isReused: connection.isReused)
        noteProgress()
    }

    /// RFC 9112 §9.3.2: an idempotent request may be pipelined. Not with a body, which the peer may stop taking.
    var mayBePipelined: Bool {
        asksForPipelining && machine.mayFollow && request.head.traits.isIdempotent && body == nil
            && !request.closesConnection && !request.opensWebSocket
    }

    func follow(on connection: any HTTPConnection) {
        carry(on: connection, event: .sentAhead)
        phase = .queued
    }

    func sentAhead(headBytes: Int) {
        times.requestHeadBytes = Int64(headBytes)
        requestSent()
    }

    func leads(on connection: any HTTPConnection) {
        take(.itsTurn)
        phase = .waitingForHead
        noteProgress()
        deadlines.deadlineChanged(to: deadline)
    }

    func lostItsTurn() {
        take(.lostTurn)
    }

    // MARK: - From the connection

    /// An undecided response is read as far as there is room: its connection may then serve what the decision waits for.
    var isHeldUp: Bool { !pauses.subtracting(.undecided).isEmpty }
    var holdsBodyBack: Bool { machine.isSuspended }

    func shareIsSpent(_ isSpent: Bool) {
        if isSpent { pause(.share) } else { unpause(.share) }
    }

    func sent(headBytes: Int, bodyBytes: Int) {
        guard headBytes + bodyBytes > 0 else { return }
        times.requestHeadBytes += Int64(headBytes)
        noteProgress()
        guard bodyBytes > 0 else { return }
        times.requestBodyBytes += Int64(bodyBytes)
        times.requestContentBytes = body?.contentSent ?? times.requestBodyBytes
        observer?.bytesSent(total: times.requestBodyBytes)
        client?.transferSentBody(self, total: times.requestContentBytes)
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
        client?.transferReceivedInterim(self, head: head)
    }

    func receivedHead(_ head: ResponseHead, headBytes: Int) {
        responseBegan()
        times.responseHeadBytes = Int64(headBytes)
        observer?.responseBegan(status: head.status, headBytes: Int64(headBytes))
        phase = .receivingBody
        noteProgress()
        client?.transferReceivedHead(self, head: head)
    }

    func receivedBody(_ bytes: UnsafeRawBufferPointer) {
        times.responseBodyBytes += Int64(bytes.count)
        observer?.bytesReceived(total: times.responseBodyBytes)
        noteProgress()
        client?.transferReceivedBody(self, bytes: bytes)
    }

    func receivedTrailers(_ trailers: HTTPHeaders) {
        times.sideHeads = .adding(trailers, to: times.sideHeads)
    }

    /// The connection is back in the pool, or closed, before this is called: the
    /// client may start another request at once, and should find it.
    func exchangeFinished() {
        times.responseEnded = loop.now
        guard let client else { return leave() }
        take(.finished)
        connection = nil
        // All has arrived, but the task cannot end yet, and its time goes on.
        if machine.state == .over { forget() } else if !isBodyKept { body?.close() }
        client.transferFinished(self)
    }

    func exchangeFailed(_ error: TransferError) {
        fail(error)
    }

    /// RFC 9110 §9.2.2: only what is idempotent, or what provably was not acted on, is sent again by itself. And only
    /// once, and only if the connection had been used before, when its death is explained by its age.
    func mayRetry(reused: Bool, unprocessed: Bool) -> Bool {
        guard reused, machine.mayBeRepeated, body?.mayReplay != false else { return false }
        return unprocessed || request.head.traits.isIdempotent && client?.transferMaySendAgain(self) != false
    }

    /// A server that answers 417 cannot say beforehand whether it wants a body. RFC 9110 §10.1.1 has the client repeat
    /// the request without the expectation.
    var mayDropExpectation: Bool { request.head.fields.contains("Expect") && body?.mayReplay != false }

    func dropExpectation() {
        addressed = request.changing { $0.fields.remove("Expect") }
    }

    func retry() {
        startOver()
        if body == nil { goAgain() } else { take(.rewind) }
    }

    private func goAgain() {
        take(host?.isRetired == true ? .rulesChanged : .again)
    }

    /// Begins anew: puts the times of this attempt aside, and asks the client for the request to send.
    private func startOver() {
        formerAttempts.append(times)
        times = TransferTimes(fetchStarted: loop.now)
        machine.beginAnew()
        observer?.retried()
        if let client { addressed = client.requestToSendAgain(self) }
    }

    // MARK: - What the machine says

    // Each caller knows its event: inlined, the table becomes one look at the state.
    @inline(__always)
    private func take(_ event: TransferMachine.Event) {
        let former = machine.state
        switch machine.handle(event) {
        case .nothing: break
        case .impossible: failImpossible(event, in: former)
        case let action: perform(action, after: former)
        }
    }

    private func failImpossible(_ event: TransferMachine.Event, in state: TransferMachine.State) {
        let client = client
        leave()
        client?.transferFailed(self, error: .fault(TransferMachine.objection(to: event, in: state)))
    }

    private func perform(_ action: TransferMachine.Action, after former: TransferMachine.State) {
        switch action {
        case .nothing, .impossible: break
        case .join:
            beginWait(after: former)
            enqueue()
        case .joinAside: beginWait(after: former)
        case .rejoin:
            renewKey()
            enqueue()
        case .withdraw:
            host?.withdraw(self)
            leaveQueue()
        case .cancelDial:
            if let attempt { host?.cancelRedial(attempt) }
            attempt = nil
            leaveQueue()
        case .rewindBody: rewindBody()
        case .redial: redial()
        case .abandon:
            connection?.abandon(self)
            connection = nil
        case .leavePlace: host?.leftBetweenConnections()
        }
    }

    private func beginWait(after former: TransferMachine.State) {
        if former == .exchanging || former == .preparing { host?.leftBetweenConnections() }
        if times.requestStarted != nil { startOver() }
        (connection, attempt) = (nil, nil)
        leaveQueue()
        renewKey()
        times.queueStarted = loop.now
        if let interval = LoopInterval.limit(request.ownLimits?.queueTimeout?.value) ?? pool.queueInterval {
            queueDeadline = loop.now + interval
        }
        noteProgress()
        watch()
    }

    /// It has no place at a host any more. At its end it keeps what an error says of that.
    private func leaveQueue() {
        guard machine.state != .over else { return }
        host = nil
        phase = .queued
    }

    /// The rules may have changed since the key was made.
    private func renewKey() {
        guard !pool.present.isEmpty else { return }
        key = key.renewed(under: pool.present).judged(by: client?.presentJudge(of: self))
    }

    private func enqueue() {
        if !pool.enqueue(self, priority: priority) { fail(.impossibleSocketPath) }
    }

    private func rewindBody() {
        connection = nil
        phase = .preparing
        noteProgress()
        body?.rewind { [self] failure in
            guard machine.state == .preparing else { return }
            if let failure { fail(.body(failure)) } else { goAgain() }
        }
    }

    private func redial() {
        connection = nil
        phase = .connecting
        noteProgress()
        let attempt = host?.redial(for: self)
        if machine.state == .redialing { self.attempt = attempt }
    }

    // MARK: - Ending

    private func fail(_ error: TransferError) {
        guard let client else { return leave() }
        take(.ended)
        (connection, attempt) = (nil, nil)
        forget()
        client.transferFailed(self, error: error)
    }

    /// Wants nothing any more, and gives up what it has.
    private func leave() {
        let former = machine.state
        if former == .waiting, host?.isDialling(for: self) == true { times.connection = host?.attemptReport }
        if let attempt { times.connection = attempt.report() }
        let action = machine.handle(.left)
        forget()
        perform(action, after: former)
        (connection, attempt) = (nil, nil)
    }

    private func forget() {
        client = nil
        if !isBodyKept { body?.close() }
        if watchPlace >= 0 { deadlines.remove(at: Int(watchPlace)) }
        watchPlace = -1
    }

    // MARK: - Time

    /// Waits so long for progress that the kernel has to find out whether the peer is still there.
    var outlastsPeers: Bool { idleInterval.nanoseconds > Transfer.usualPatience.nanoseconds }

    private func noteProgress() {
        lastProgress = loop.now
    }

    package var deadline: LoopInstant {
        switch machine.clocks {
        case .none: return .distantFuture
        // The peer owes nothing.
        case .task: return time.deadline
        case .all:
            let deadline = min(silentSince + idleInterval, time.deadline)
            return machine.state == .waiting ? min(queueDeadline, deadline) : deadline
        }
    }

    /// Since when nothing has happened. As long as the host serves others, to wait for one's turn is no silence.
    private var silentSince: LoopInstant {
        guard machine.state == .waiting, let turn = host?.lastTurn else { return lastProgress }
        return max(lastProgress, turn)
    }

    func holder(at host: HostPool) -> Int? {
        guard self.host === host, machine.state == .exchanging else { return nil }
        return client?.taskNumber
    }

    package func deadlinePassed() {
        if machine.state == .following, loop.now < time.deadline {
            // The requests before it take too long.
            connection?.abandon(self)
            return take(.lostTurn)
        }
        if machine.state == .waiting, isAboutToBeServed { return }
        let client = client
        let error = lateness
        // The connection that it waited for. Not if it has only waited for its turn: others are connecting.
        if machine.state == .waiting, !hasTimeLeft, let report = host?.attemptReport { times.connection = report }
        self.client = nil
        leave()
        client?.transferFailed(self, error: error)
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
        guard machine.state == .waiting, phase == .queued || !isIdle, let host else {
            return .timedOut(phase, silentSince.duration(to: loop.now))
        }
        let report = host.queueReport(holders: deadlines.holders(at: host, atMost: 10), isQueueTime: !isIdle)
        return .unserved(report, (isIdle ? silentSince : times.queueStarted).duration(to: loop.now))
    }

    private var currentPhase: TransferPhase {
        switch machine.state {
        case .waiting: host?.attemptPhase ?? phase
        case .redialing: attempt?.phase ?? phase
        case .idle, .preparing, .aside, .exchanging, .following, .arrived, .over: phase
        }
    }
}
