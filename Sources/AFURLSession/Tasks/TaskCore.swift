import AFBase
import AFLoop
import AFTransport
import AFWire
import Foundation

/// The loop's side of a task: starts its transfer, keeps its snapshot up to date,
/// and completes it exactly once.
final class TaskCore {
    private enum Stage {
        case new
        case loading
        /// Everything has arrived; the consumer does not let go yet.
        case held
        /// It has failed; the consumer has still something to save.
        case ending
        case completed
    }

    let request: OwnRequest
    /// Shared with the handle, which is left alone otherwise: callers may refer to it weakly, and then retaining it
    /// is slow.
    @exclusivity(unchecked) private(set) var snapshot: Lock<URLSessionTask.Snapshot>
    let body: TaskBody
    let session: SessionCore
    @exclusivity(unchecked) private(set) var consumer: any TaskConsumer
    /// Set while the task is known to its session: keeps it, and the session, alive.
    @exclusivity(unchecked) private(set) var task: URLSessionTask?
    /// The task's own delegate, if it has one: with the session's, if there is that too.
    @exclusivity(unchecked) private var listener: (any URLSessionTaskDelegate)?
    @exclusivity(unchecked) var transfer: Transfer?
    /// Nil as long as the first exchange is the only one.
    @exclusivity(unchecked) var course: Course?
    /// The body that is being decoded, if it has a coding. Refers to this, until the task completes.
    @exclusivity(unchecked) var content: CodedBody?
    /// Takes the body for the cache, if it may be stored.
    @exclusivity(unchecked) var writer: CacheWriter?
    @exclusivity(unchecked) var response: URLResponse?
    /// Tells those who look on, if there are any.
    @exclusivity(unchecked) private(set) var trace: TaskTrace?
    @exclusivity(unchecked) private(set) var started: LoopInstant?
    // Here, these fit into the gap behind `started`: a task is small.
    @exclusivity(unchecked) private var stage = Stage.new
    @exclusivity(unchecked) private(set) var keepsMetrics = false
    /// As of the last time it was reconciled with its handle.
    @exclusivity(unchecked) private(set) var isSuspended = false
    /// The delegate queue will call a delegate with the task's metrics.
    @exclusivity(unchecked) var announcesMetrics = false
    @exclusivity(unchecked) private(set) var priority = URLSessionTask.defaultPriority
    /// Where the session keeps the task.
    @exclusivity(unchecked) var place = 0

    init(
        _ request: Result<WireRequest, RequestRejection>,
        body: TaskBody,
        snapshot: Lock<URLSessionTask.Snapshot>,
        consumer: any TaskConsumer,
        session: SessionCore
    ) {
        self.request = OwnRequest(request)
        self.body = body
        self.snapshot = snapshot
        self.consumer = consumer
        self.session = session
    }

    // MARK: - From the handle

    /// Brings the loop's side to what the snapshot says.
    func reconcile(_ task: URLSessionTask) {
        if case .new = stage { return start(task) }
        let state = snapshot.withLock { $0.life.state }
        isSuspended = state == .suspended
        switch (state, stage) {
        case (.running, .loading), (.running, .held):
            trace?.resumed()
            unpause(.suspended)
            consumer.suspended(false, of: self)
            doWhatWasPostponed()
        case (.suspended, .loading), (.suspended, .held):
            trace?.suspended()
            pause(.suspended)
            consumer.suspended(true, of: self)
        case (.canceling, .loading), (.canceling, .held):
            trace?.note(.cancelled)
            fail(.cancelled)
        case (.canceling, .ending): fail(.cancelled)
        case (_, .new), (_, .ending), (_, .completed), (.completed, _): break
        }
    }

    private func start(_ task: URLSessionTask) {
        // It may have been suspended more than once before it ever ran.
        guard let order = snapshot.withLock({ $0.takeOrder() }) else { return }
        adopt(task, order)
        // Also of a task that was cancelled, or whose session was invalidated, before this: its metrics tell of no request.
        if order.hasRun { restartTime() }
        guard !order.isCancelled else {
            trace?.note(.cancelled)
            // A session that ends cancels what was never resumed.
            return fail(session.isInvalidated && !order.hasRun ? .sessionInvalidated : .cancelled)
        }
        stage = .loading
        trace?.resumed()
        guard !session.isInvalidated else { return fail(.sessionInvalidated) }
        if !waits(for: order.date) { beginLoading() }
    }

    private func adopt(_ task: URLSessionTask, _ order: URLSessionTask.Order) {
        self.task = task
        if let own = order.delegate {
            let shared = session.delegate.flatMap { $0 === own ? nil : $0 }
            listener = shared.map { DelegatePair(own, $0, in: task.session) } ?? own
        }
        keepsMetrics = order.keepsMetrics
        priority = order.priority
        session.add(self)
        if let events = session.events { trace = TaskTrace(task, events) }
        if let place = order.madePlace { task.session.forgetMade(at: place) }
    }

    func priorityChanged(to priority: Float) {
        self.priority = priority
        transfer?.changePriority(to: priority)
    }

    // MARK: - From the session

    var handle: URLSessionTask? { task }

    var isLoading: Bool {
        if case .loading = stage { true } else { false }
    }

    var isHeld: Bool {
        if case .held = stage { true } else { false }
    }

    /// Loads, unless there is something to be done first.
    func beginLoading() {
        restartTime()
        if !consumer.prepares(for: self) { load() }
    }

    /// What was before does not count.
    func restartTime() {
        started = session.loop.now
    }

    // MARK: - From the consumer

    /// The task's own delegate.
    var ownDelegate: (any URLSessionTaskDelegate)? {
        guard let listener else { return nil }
        return (listener as? DelegatePair)?.own ?? listener
    }

    /// Who hears about the task in this role, if it has a delegate of its own.
    func listener<Kind>(as kind: Kind.Type) -> Kind? {
        guard let listener else { return nil }
        if let pair = listener as? DelegatePair, !pair.has(kind) { return nil }
        return listener as? Kind
    }

    /// The delegate and the handle it is called with. A task's own delegate is called in place of the session's, where it
    /// has the method.
    var taskDelegate: (delegate: any URLSessionTaskDelegate, task: URLSessionTask)? {
        guard let task, let delegate = listener ?? session.taskDelegate else { return nil }
        return (delegate, task)
    }

    /// The same for the bodies of responses.
    var dataDelegate: (delegate: any URLSessionDataDelegate, task: URLSessionDataTask)? {
        guard let task = task as? URLSessionDataTask else { return nil }
        return (listener(as: (any URLSessionDataDelegate).self) ?? session.dataDelegate).map { ($0, task) }
    }

    var expectedBodyLength: Int64 { response?.expectedContentLength ?? NSURLSessionTransferSizeUnknown }

    func pause(_ reason: Transfer.Pauses) {
        transfer?.pause(reason)
        course?.load?.pause(reason)
        if reason == .suspended { course?.clock?.suspend() }
    }

    func unpause(_ reason: Transfer.Pauses) {
        if reason == .suspended { course?.clock?.resume() }
        transfer?.unpause(reason)
        course?.load?.unpause(reason)
    }

    /// The response continues what an earlier task received.
    func continues(from offset: Int64, total: Int64?) {
        let expected = total ?? NSURLSessionTransferSizeUnknown
        snapshot.withLock { snapshot in
            snapshot.received = offset
            snapshot.expectedToReceive = expected
            snapshot.progress?.totalUnitCount = expected
            snapshot.progress?.completedUnitCount = offset
        }
    }

    /// The response shown to the task's owner in place of the one that came.
    func present(_ response: URLResponse) {
        self.response = response
        snapshot.withLock { $0.response = response }
    }

    /// Another task takes the place of this one, and goes on with what comes next.
    ///
    /// - Returns: Whether everything has arrived already.
    func handOver(to other: URLSessionTask, consumer: any TaskConsumer) -> Bool {
        trace?.became(other)
        // The session lists the core, which stays.
        snapshot = other.snapshot
        task = other
        self.consumer = consumer
        guard case .held = stage else { return false }
        stage = .loading
        return true
    }

    func completeIfHeld() {
        guard case .held = stage else { return }
        store()
        complete(nil)
    }

    // MARK: - Ending

    /// The body is complete.
    func finishReceiving() {
        consumer.receivedEnd(of: self)
        guard case .loading = stage else { return }
        guard !consumer.isHolding else {
            stage = .held
            return
        }
        store()
        complete(nil)
    }

    func fail(_ error: LoadError) {
        switch stage {
        case .completed: return
        case .ending:
            // What is being saved waits for a disk, which may hang. Whoever cancels does not, unless he wants it.
            guard error.isCancelled, !consumer.settles(error, reported: urlError(error), of: self) else { return }
            return complete(urlError(error))
        case .new, .loading, .held: break
        }
        transfer?.cancel()
        course?.load?.cancel()
        course?.interception?.stop()
        let reported = urlError(error)
        let former = stage
        stage = .ending
        if consumer.settles(error, reported: reported, of: self) { return }
        stage = former
        complete(error.foreign ?? reported)
    }

    func urlError(_ error: LoadError) -> URLError {
        let account = transfer.map { $0.account(at: session.loop.now, after: course?.connectivity) }
        // A data: URL is no address, but the data.
        let url = presentRequest?.url.flatMap { LocalScheme($0) == .data ? nil : $0 }
        let remarks = [course?.interception?.remark, transfer?.remark].compactMap(\.self).filter { !$0.isEmpty }
        return error.urlError(for: url, peer: endpoint, account: account, remark: remarks.joined(separator: " "))
    }

    /// The consumer has saved what it could.
    func end(_ error: (any Error)?) {
        if case .ending = stage { complete(error) }
    }

    var isCompleted: Bool {
        if case .completed = stage { true } else { false }
    }

    var endpoint: Endpoint? { (transfer?.request ?? (try? request.get()))?.endpoint }

    private func complete(_ error: (any Error)?) {
        guard task != nil else { return }
        stage = .completed
        finishMetrics(error)
        consumer.completed(error, of: self)
        // Before the turn ends and with it the callbacks leave.
        let listeners = snapshot.withLock { $0.complete(error) }
        session.remove(self)
        stopClock()
        transfer?.cancel()
        course?.load?.cancel()
        if transfer?.keepsBody == true { transfer?.surrenderBody()?.close() }
        transfer = nil
        course?.connectivity?.end()
        course?.interception?.stop()
        course?.delay?.stop()
        course = nil
        content = nil
        writer = nil
        trace = nil
        task = nil
        listener = nil
        // Their `deinit` is the user's, and comes when all is done.
        withExtendedLifetime(listeners) {}
    }
}
