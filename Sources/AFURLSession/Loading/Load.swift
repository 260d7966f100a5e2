import AFBase
import AFLoop
import AFState
import AFTransport
import AFWire
import Foundation

/// What one task does between `resume()` and its completion: the loop's side of the task. It lets the steps prepare
/// each request and judge each outcome (`LoadSteps` has their order), keeps the task's snapshot up to date, and
/// completes the task once. `LoadMachine` decides what comes next.
final class Load {
    let request: OwnRequest
    /// Shared with the handle. The loop does not touch the handle itself: callers may refer to it weakly, and then
    /// retaining it is slow.
    @exclusivity(unchecked) private(set) var snapshot: Lock<URLSessionTask.Snapshot>
    let body: TaskBody
    let session: SessionCore
    @exclusivity(unchecked) private(set) var consumer: any TaskConsumer
    /// Set while the session knows the task: keeps the task, and the session, alive.
    @exclusivity(unchecked) private(set) var handle: URLSessionTask?
    /// The task's own delegate, if it has one; as a pair with the session's, if there is one.
    @exclusivity(unchecked) private(set) var listener: (any URLSessionTaskDelegate)?
    /// The same, if it takes the bodies of responses.
    @exclusivity(unchecked) private(set) var dataListener: (any URLSessionDataDelegate)?
    @exclusivity(unchecked) var transfer: Transfer?
    /// In place of the transfer, if its connection goes on without it.
    @exclusivity(unchecked) var concluded: ConcludedTransfer?
    /// Nil as long as the first exchange is the only one.
    @exclusivity(unchecked) var memory: LoadMemory?
    /// Decodes the body, if it has a coding. Refers to this load until the task completes.
    @exclusivity(unchecked) var content: CodedBody?
    /// The cache that the load began with, if that of its session may change.
    @exclusivity(unchecked) private var ownCache: CacheAccess?
    /// Takes the body for the cache, if the cache stores it.
    @exclusivity(unchecked) var writer: CacheWriter?
    @exclusivity(unchecked) var response: URLResponse?
    /// Tells the monitors, if there are any.
    @exclusivity(unchecked) private(set) var trace: TaskTrace?
    @exclusivity(unchecked) private(set) var time = TaskTime.unlimited
    @exclusivity(unchecked) private var machine = LoadMachine()
    @exclusivity(unchecked) private(set) var keepsMetrics = false
    /// Whether the delegate queue will call a delegate with what comes before the end: metrics, interim responses.
    @exclusivity(unchecked) var delegateGoesFirst = false
    @exclusivity(unchecked) private(set) var priority = URLSessionTask.defaultPriority
    /// Taken when the request passed the cache.
    @exclusivity(unchecked) var cacheTicket = CacheTicket.none
    /// Of the cookies that the session adds to the request: read before them.
    @exclusivity(unchecked) var cookieEpoch = CookieEpoch.none
    /// The task's place in the session's list.
    @exclusivity(unchecked) var place: UInt32 = 0
    /// Where its time is watched, while no exchange watches it; -1 if none does.
    @exclusivity(unchecked) private var watchPlace: Int32 = -1

    init(
        request: OwnRequest,
        body: TaskBody,
        snapshot: Lock<URLSessionTask.Snapshot>,
        consumer: any TaskConsumer,
        session: SessionCore
    ) {
        self.request = request
        self.body = body
        self.snapshot = snapshot
        self.consumer = consumer
        self.session = session
    }

    var cache: CacheAccess { ownCache ?? session.cache }
    var state: LoadMachine.State { machine.state }
    var isLoading: Bool { machine.isLoading }
    var isHeld: Bool { machine.isHeld }
    var isCompleted: Bool { state == .completed }
    var isSuspended: Bool { machine.isSuspended }

    /// Tells the machine what happens.
    ///
    /// - Returns: What the load has to do.
    @inline(__always)
    func take(_ event: LoadMachine.Event) -> LoadMachine.Action {
        let former = state
        let action = machine.handle(event)
        if action == .impossible { failImpossible(event, in: former) }
        return action
    }

    private func failImpossible(_ event: LoadMachine.Event, in state: LoadMachine.State) {
        fail(.fault(LoadMachine.objection(to: event, in: state)))
    }

    func beginWait(asking program: MissingAnswer?) -> UInt32 {
        memory?.missingAnswer = program
        return machine.beginWait()
    }

    func isWaiting(with ticket: UInt32) -> Bool { machine.isWaiting(with: ticket) }
    func answer(_ ticket: UInt32) -> LoadMachine.Answer { machine.answer(ticket) }

    // MARK: - From the handle

    /// Makes the loop's side do what the snapshot says.
    func reconcile(_ task: URLSessionTask) {
        if state == .new { return start(task) }
        switch snapshot.withLock({ $0.life.state }) {
        case .running:
            guard machine.resume() else { return }
            trace?.resumed()
            unpause(.suspended)
            consumer.suspended(false, of: self)
            goOnWithPostponed()
        case .suspended:
            guard machine.suspend() else { return }
            trace?.suspended()
            pause(.suspended)
            consumer.suspended(true, of: self)
        case .canceling:
            if isLoading || isHeld { trace?.note(.cancelled) }
            fail(.cancelled)
        case .completed: break
        }
    }

    private func start(_ task: URLSessionTask) {
        // The caller may have suspended it more than once before it ever ran.
        guard let order = snapshot.withLock({ $0.takeOrder() }) else { return }
        adopt(task, order: order)
        // Also for a task that was cancelled, or whose session was invalidated, before this: its metrics have no
        // request.
        if order.hasRun { time = TaskTime(from: session.loop.now, until: .distantFuture) }
        guard !order.isCancelled else {
            trace?.note(.cancelled)
            // A session that ends cancels tasks that were never resumed.
            return fail(session.isInvalidated && !order.hasRun ? .sessionInvalidated : .cancelled)
        }
        guard take(.start) == .prepare else { return }
        trace?.resumed()
        guard !session.isInvalidated else { return fail(.sessionInvalidated) }
        ownCache = session.cacheThatMayChange()
        guard let date = order.date else { return begin(ownDraft(request)) }
        var draft = ownDraft(request)
        draft.history = DraftHistory()
        draft.history?.date = date
        prepare(draft, from: .date)
    }

    private func adopt(_ task: URLSessionTask, order: URLSessionTask.Order) {
        handle = task
        listener = order.delegate.map { listener(for: $0) }
        dataListener = listener(as: (any URLSessionDataDelegate).self)
        keepsMetrics = order.keepsMetrics
        priority = order.priority
        session.add(self)
        if let events = session.events { trace = TaskTrace(task: task.taskIdentifier, events: events) }
        task.session.forgetMade(task)
    }

    func priorityChanged(to priority: Float) {
        self.priority = priority
        transfer?.changePriority(to: priority)
    }

    // MARK: - Time

    /// Starts the task's time anew.
    ///
    /// - Parameter request: The request whose own limit counts, if it has one.
    func restartTime(of request: OwnRequest) {
        let now = session.loop.now
        time = TaskTime(from: now, until: now + (limit(of: request) ?? session.resourceTimeout))
        if isSuspended { time.suspend(at: now) }
    }

    private func limit(of request: OwnRequest) -> LoopInterval? {
        if let wire = request.frozen { return LoopInterval.limit(wire.ownLimits?.resourceTimeout?.value) }
        return LoopInterval.limit(handle?.originalRequest?.timeoutIntervalForResource)
    }

    func suspendTime() {
        time.suspend(at: session.loop.now)
    }

    func resumeTime() {
        time.resume(at: session.loop.now)
        if watchPlace >= 0 { session.deadlines.deadlineChanged(to: deadline) }
    }

    /// No exchange watches the task's time from now on.
    func watchTime() {
        guard watchPlace < 0, isLoading || isHeld else { return }
        watchPlace = Int32(clamping: session.deadlines.add(self))
        session.deadlines.deadlineChanged(to: deadline)
    }

    /// An exchange begins, or the load has ended.
    func leaveTime() {
        guard watchPlace >= 0 else { return }
        session.deadlines.remove(at: Int(watchPlace))
        watchPlace = -1
    }

    // MARK: - From the consumer

    /// Lets another task take the place of this one, for all that follows.
    ///
    /// - Returns: Whether the response has already arrived in full.
    func handOver(to other: URLSessionTask, consumer: any TaskConsumer) -> Bool {
        trace?.became(other.taskIdentifier, isStream: other is URLSessionStreamTask)
        // The session lists the load, which stays the same.
        snapshot = other.snapshot
        handle = other
        self.consumer = consumer
        if consumer.caching.storesNothing {
            writer?.finish(as: nil)
            writer = nil
        }
        return take(.handedOver) == .deliver
    }

    /// Lets go of a transfer whose connection goes on without it, perhaps for days. Keeps what the metrics read if a
    /// delegate or the program may ask for them.
    func letGoOfTransfer() {
        let mayBeAsked = taskDelegate.map { !session.isMissing(.collectedMetrics, in: $0.delegate) } ?? false
        if mayBeAsked || keepsMetrics || session.settings.monitoring.keepsMetrics || trace != nil {
            guard memory == nil, trace == nil, let times = transfer?.onlyAttempt else { return }
            concluded = ConcludedTransfer(times: times)
        }
        transfer = nil
    }

    /// Resumes the Swift tasks that await the task: behind the delegate, if the delegate queue calls it first.
    var resumptions: CallbackOutbox { delegateGoesFirst ? session.outbox : session.resumptions }

    func completeIfHeld() {
        if take(.released) == .store { store() }
    }

    /// The cache has what it may have of the response.
    func completeStored() {
        if take(.stored) == .complete { complete(nil) }
    }

    /// The consumer has saved what it could.
    func end(_ error: (any Error)?) {
        if state == .saving, take(.saved) == .complete { complete(error) }
    }

    // MARK: - Ending

    /// The body is complete.
    func finishReceiving() {
        guard state == .delivering else { return }
        consumer.receivedEnd(of: self)
        guard state == .delivering else { return }
        if consumer.isHolding { return _ = take(.held) }
        if take(.done) == .store { store() }
    }

    func fail(_ error: LoadError) {
        switch take(.fail) {
        case .save:
            transfer?.cancel()
            memory?.stopSteps()
            let reported = urlError(error)
            if consumer.settle(error, reported: reported, of: self) { return }
            guard take(.saved) == .complete else { return }
            complete(error.foreign ?? reported)
        case .hurry:
            // A consumer that saves waits for a disk, which may hang. A caller that cancels does not wait, unless it
            // asks for what is saved.
            guard error.isCancelled, !consumer.settle(error, reported: urlError(error), of: self) else { return }
            guard take(.saved) == .complete else { return }
            complete(urlError(error))
        default: break
        }
    }

    private func complete(_ error: (any Error)?) {
        guard handle != nil else { return }
        report(error)
        let isDelivered = consumer.completed(error, of: self)
        // Before the end of the turn, at which the callbacks leave.
        let listeners = snapshot.withLock { $0.complete(error, isDelivered: isDelivered) }
        session.remove(self)
        leaveTime()
        transfer?.cancel()
        if transfer?.keepsBody == true { transfer?.surrenderBody()?.close() }
        transfer = nil
        concluded = nil
        memory?.stop()
        memory = nil
        content = nil
        writer = nil
        ownCache = nil
        trace = nil
        handle = nil
        listener = nil
        dataListener = nil
        // Release them at the very end: their `deinit` is the program's code.
        withExtendedLifetime(listeners) {}
    }
}

extension Load: DeadlineClient {
    var deadline: LoopInstant { time.deadline }

    func deadlinePassed() {
        leaveTime()
        fail(.transfer(.outOfTime(state == .delivering || isHeld ? .receivingBody : .waitingForHead)))
    }

    func cancel() {
        leaveTime()
    }
}
