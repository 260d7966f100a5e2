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
        /// The response has arrived in full; the consumer holds the task.
        case held
        /// The task has failed; the consumer has still something to save.
        case ending
        case completed
    }

    let request: OwnRequest
    /// Shared with the handle. The loop does not touch the handle itself: callers may refer to it weakly, and then
    /// retaining it is slow.
    @exclusivity(unchecked) private(set) var snapshot: Lock<URLSessionTask.Snapshot>
    let body: TaskBody
    let session: SessionCore
    @exclusivity(unchecked) private(set) var consumer: any TaskConsumer
    /// Set while the session knows the task: keeps the task, and the session, alive.
    @exclusivity(unchecked) private(set) var task: URLSessionTask?
    /// The task's own delegate, if it has one; as a pair with the session's, if there is one.
    @exclusivity(unchecked) private var listener: (any URLSessionTaskDelegate)?
    @exclusivity(unchecked) var transfer: Transfer?
    /// Nil as long as the first exchange is the only one.
    @exclusivity(unchecked) var course: Course?
    /// Decodes the body, if it has a coding. Refers to this core until the task completes.
    @exclusivity(unchecked) var content: CodedBody?
    /// Takes the body for the cache, if the cache stores it.
    @exclusivity(unchecked) var writer: CacheWriter?
    @exclusivity(unchecked) var response: URLResponse?
    /// Tells the monitors, if there are any.
    @exclusivity(unchecked) private(set) var trace: TaskTrace?
    @exclusivity(unchecked) private(set) var started: LoopInstant?
    // Declared here, these fit into the gap behind `started`, which keeps a task small.
    @exclusivity(unchecked) private var stage = Stage.new
    @exclusivity(unchecked) private(set) var keepsMetrics = false
    /// The state that the loop has taken last from the handle.
    @exclusivity(unchecked) private(set) var isSuspended = false
    /// Whether the delegate queue will call a delegate with the task's metrics.
    @exclusivity(unchecked) var announcesMetrics = false
    @exclusivity(unchecked) private(set) var priority = URLSessionTask.defaultPriority
    /// The task's place in the session's list.
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

    /// Makes the loop's side do what the snapshot says.
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
        // The caller may have suspended it more than once before it ever ran.
        guard let order = snapshot.withLock({ $0.takeOrder() }) else { return }
        adopt(task, order)
        // Also for a task that was cancelled, or whose session was invalidated, before this: its metrics have no
        // request.
        if order.hasRun { restartTime() }
        guard !order.isCancelled else {
            trace?.note(.cancelled)
            // A session that ends cancels tasks that were never resumed.
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

    /// Loads, unless the consumer has work to do first.
    func beginLoading() {
        restartTime()
        if !consumer.prepares(for: self) { load() }
    }

    /// Starts the task's time anew.
    func restartTime() {
        started = session.loop.now
    }

    // MARK: - From the consumer

    /// The task's own delegate.
    var ownDelegate: (any URLSessionTaskDelegate)? {
        guard let listener else { return nil }
        return (listener as? DelegatePair)?.own ?? listener
    }

    /// The task's own delegate in this role, if it has one.
    func listener<Kind>(as kind: Kind.Type) -> Kind? {
        guard let listener else { return nil }
        if let pair = listener as? DelegatePair, !pair.has(kind) { return nil }
        return listener as? Kind
    }

    /// The delegate, and the handle to call it with. The task calls its own delegate in place of the session's, where
    /// that has the method.
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

    /// Counts the bytes of an earlier task, which the response continues.
    func continues(from offset: Int64, total: Int64?) {
        let expected = total ?? NSURLSessionTransferSizeUnknown
        snapshot.withLock { snapshot in
            snapshot.received = offset
            snapshot.expectedToReceive = expected
            snapshot.progress?.totalUnitCount = expected
            snapshot.progress?.completedUnitCount = offset
        }
    }

    /// Shows the task's owner this response in place of the one that came.
    func present(_ response: URLResponse) {
        self.response = response
        snapshot.withLock { $0.response = response }
    }

    /// Lets another task take the place of this one, for all that follows.
    ///
    /// - Returns: Whether the response has already arrived in full.
    func handOver(to other: URLSessionTask, consumer: any TaskConsumer) -> Bool {
        trace?.became(other)
        // The session lists the core, which stays the same.
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
            // A consumer that saves waits for a disk, which may hang. A caller that cancels does not wait, unless it
            // asks for what is saved.
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
        // A `data:` URL is no address, but the data itself: leave it out of the error.
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
        // Before the end of the turn, at which the callbacks leave.
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
        // Release them at the very end: their `deinit` is the program's code.
        withExtendedLifetime(listeners) {}
    }
}
