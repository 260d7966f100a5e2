import AFLoop
import AFWire
import Foundation

/// The loop's side of a task: starts its transfer, keeps its snapshot up to date,
/// and completes it exactly once.
final class TaskCore: TransferClient {
    private enum Stage {
        case new
        case loading
        /// Everything has arrived; the consumer does not let go yet.
        case held
        /// It has failed; the consumer has still something to save.
        case ending
        case completed
    }

    private let request: Result<FrozenRequest, RequestRejection>
    /// Shared with the handle, which is left alone otherwise: retaining what is weakly
    /// referenced elsewhere is slow.
    @exclusivity(unchecked) private var snapshot: Lock<URLSessionTask.Snapshot>
    private let body: TaskBody
    @exclusivity(unchecked) private(set) var consumer: any TaskConsumer
    /// Set while the task is known to its session: keeps it, and the session, alive.
    @exclusivity(unchecked) private var task: URLSessionTask?
    @exclusivity(unchecked) private var sessionCore: SessionCore?
    @exclusivity(unchecked) private(set) var ownDelegate: (any URLSessionTaskDelegate)?
    @exclusivity(unchecked) private var transfer: Transfer?
    /// Of transfers whose answers were of no use.
    @exclusivity(unchecked) private var formerTimes: [TransferTimes] = []
    @exclusivity(unchecked) private(set) var response: HTTPURLResponse?
    @exclusivity(unchecked) private var started: LoopInstant?
    // Here, it fits into the gap behind `started`: a task is small.
    @exclusivity(unchecked) private var stage = Stage.new
    /// Where the session keeps the task.
    @exclusivity(unchecked) var place = 0

    init(
        _ request: Result<FrozenRequest, RequestRejection>,
        body: TaskBody,
        snapshot: Lock<URLSessionTask.Snapshot>,
        consumer: any TaskConsumer
    ) {
        self.request = request
        self.body = body
        self.snapshot = snapshot
        self.consumer = consumer
    }

    // MARK: - From the handle

    /// Brings the loop's side to what the snapshot says.
    func reconcile(_ task: URLSessionTask) {
        switch (snapshot.withLock { $0.life.state }, stage) {
        case (.running, .new): start(task)
        case (.running, .loading), (.running, .held): transfer?.unpause(.suspended)
        case (.suspended, .loading), (.suspended, .held): transfer?.pause(.suspended)
        case (.canceling, .new):
            adopt(task)
            fail(.cancelled)
        case (.canceling, .loading), (.canceling, .held): fail(.cancelled)
        case (.suspended, .new),  // suspended more than once before it ever ran
            (_, .ending), (_, .completed), (.completed, _):
            break
        }
    }

    func priorityChanged(to priority: Float) {
        transfer?.changePriority(to: priority)
    }

    // MARK: - From the session

    var session: SessionCore {
        guard let sessionCore else { preconditionFailure("a task without a session has no events") }
        return sessionCore
    }

    var handle: URLSessionTask? { task }

    private func adopt(_ task: URLSessionTask) {
        let session = task.session.core.value
        self.task = task
        sessionCore = session
        let place = snapshot.withLock { snapshot in
            ownDelegate = snapshot.delegate
            defer { snapshot.madePlace = nil }
            return snapshot.madePlace
        }
        session.add(self)
        if let place { task.session.forgetMade(at: place) }
    }

    private func start(_ task: URLSessionTask) {
        adopt(task)
        stage = .loading
        started = session.world.loop.now
        guard !session.isInvalidated else { return fail(.sessionInvalidated) }
        if !consumer.prepares(for: self) { load() }
    }

    /// Sends the task's request, or another in its place. What was under way is given up.
    func load(_ other: FrozenRequest? = nil) {
        guard case .loading = stage else { return }
        switch request {
        case .success(let own): begin(other ?? own)
        case .failure(let rejection): return fail(.rejected(rejection))
        }
        // It may have been suspended while there was no transfer.
        if snapshot.withLock({ $0.life.state }) == .suspended { transfer?.pause(.suspended) }
    }

    private func begin(_ request: FrozenRequest) {
        let session = session
        guard (request.cachePolicy ?? session.settings.cachePolicy) != .returnCacheDataDontLoad else {
            return fail(.notCached)
        }
        let endpoint = request.endpoint
        guard !session.forbidsPlainText(to: endpoint) else { return fail(.plainTextForbidden) }
        let security = endpoint.scheme == .https ? session.currentSecurity() : nil
        let unixPath = session.settings.unixDomainSocketPath
        let loop = session.world.loop
        let former = transfer
        former?.cancel()
        if let former {
            formerTimes.append(former.times)
            snapshot.withLock { $0.received = 0 }
        }
        let transfer = Transfer(
            request,
            key: ConnectionKey(endpoint: endpoint, unixPath: unixPath, security: security),
            pool: session.pool,
            loop: loop,
            deadlines: session.deadlines,
            idleInterval: request.idleInterval ?? session.requestTimeout,
            hardDeadline: former?.hardDeadline ?? loop.now + session.resourceTimeout,
            asksForPipelining: request.asksForPipelining || session.settings.usesPipelining,
            client: self
        )
        self.transfer = transfer
        send(request, with: transfer)
    }

    private func send(_ request: FrozenRequest, with transfer: Transfer) {
        guard !body.isPrepared(for: request) else {
            return transfer.start(priority: priority, body: request.body.map(DataBody.init))
        }
        guard let task else { return }
        transfer.prepare()
        let desk = BodyDesk(task, of: self, in: session.world)
        desk.prepare(body, of: request) { [self] in
            bodyReady($0, for: transfer)
        }
    }

    private var priority: Float { snapshot.withLock { $0.priority } }

    private func bodyReady(
        _ result: Result<(request: FrozenRequest, body: any BodySource), TransferError>,
        for transfer: Transfer
    ) {
        guard task != nil, transfer === self.transfer else {
            if case .success((_, let body)) = result { body.close() }
            return
        }
        switch result {
        case .failure(let error): fail(error)
        case .success((let request, let body)):
            let expected = request.bodyLength.map(Int64.init) ?? NSURLSessionTransferSizeUnknown
            snapshot.withLock { $0.expectedToSend = expected }
            transfer.start(request, priority: priority, body: body)
        }
    }

    // MARK: - From the consumer

    /// The delegate and the handle it is called with. A task's own delegate goes
    /// before the session's.
    var taskDelegate: (delegate: any URLSessionTaskDelegate, task: URLSessionTask)? {
        guard let task, let delegate = ownDelegate ?? session.taskDelegate else { return nil }
        return (delegate, task)
    }

    /// A task's own delegate that has no use for data leaves it to the session's.
    var dataDelegate: (delegate: any URLSessionDataDelegate, task: URLSessionDataTask)? {
        guard let task = task as? URLSessionDataTask else { return nil }
        let own = ownDelegate.flatMap { $0 as? any URLSessionDataDelegate }
        return (own ?? session.dataDelegate).map { ($0, task) }
    }

    var expectedBodyLength: Int64 { response?.expectedContentLength ?? NSURLSessionTransferSizeUnknown }

    func pause(_ reason: Transfer.Pauses) { transfer?.pause(reason) }
    func unpause(_ reason: Transfer.Pauses) { transfer?.unpause(reason) }

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
    func present(_ response: HTTPURLResponse) {
        self.response = response
        snapshot.withLock { $0.response = response }
    }

    /// Another task takes the place of this one, and goes on with what comes next.
    ///
    /// - Returns: Whether everything has arrived already.
    func handOver(to other: URLSessionTask, consumer: any TaskConsumer) -> Bool {
        // The session lists the core, which stays.
        snapshot = other.snapshot
        task = other
        ownDelegate = other.snapshot.withLock { $0.delegate }
        self.consumer = consumer
        guard case .held = stage else { return false }
        stage = .loading
        return true
    }

    func completeIfHeld() {
        if case .held = stage { complete(nil) }
    }

    // MARK: - From the transfer

    var handshakeDelegate: (any HandshakeDelegate)? {
        guard let task, let endpoint else { return nil }
        return ChallengeDesk(task, taskDelegate?.delegate, endpoint, in: session)
    }

    func transferSentBody(_ transfer: Transfer, total: Int64) {
        let hasNews = snapshot.withLock { snapshot in
            // A body sent again is progress only from where the first attempt ended.
            snapshot.sent = max(snapshot.sent, total)
            return snapshot.sent > snapshot.reportedSent && !snapshot.isSendingAnnounced
        }
        guard hasNews, let (delegate, task) = taskDelegate else { return }
        snapshot.withLock { $0.isSendingAnnounced = true }
        session.outbox.post(.block { TaskCore.reportSent(by: task, to: delegate) })
    }

    private static func reportSent(by task: URLSessionTask, to delegate: any URLSessionTaskDelegate) {
        let (before, total, expected) = task.snapshot.withLock { snapshot in
            defer { snapshot.reportedSent = snapshot.sent }
            snapshot.isSendingAnnounced = false
            return (snapshot.reportedSent, snapshot.sent, snapshot.expectedToSend)
        }
        guard total > before else { return }
        delegate.urlSession(
            task.session,
            task: task,
            didSendBodyData: total - before,
            totalBytesSent: total,
            totalBytesExpectedToSend: expected
        )
    }

    func transferReceivedHead(_ transfer: Transfer, _ head: ResponseHead) {
        let response = HTTPURLResponse(url: transfer.request.location, head: head)
        self.response = response
        let expected = transfer.request.isHead ? 0 : response.expectedContentLength
        snapshot.withLock { snapshot in
            snapshot.response = response
            snapshot.expectedToReceive = expected
            snapshot.progress?.totalUnitCount = expected
        }
        consumer.receivedResponse(response, of: self)
    }

    func transferReceivedBody(_ transfer: Transfer, _ bytes: UnsafeRawBufferPointer) {
        snapshot.withLock { snapshot in
            snapshot.received += Int64(bytes.count)
            snapshot.progress?.completedUnitCount = snapshot.received
        }
        consumer.receivedBody(bytes, of: self)
    }

    func transferFinished(_ transfer: Transfer) {
        finishReceiving()
    }

    /// The body is complete.
    func finishReceiving() {
        consumer.receivedEnd(of: self)
        guard case .loading = stage else { return }
        guard !consumer.isHolding else {
            stage = .held
            return
        }
        complete(nil)
    }

    func transferFailed(_ transfer: Transfer, _ error: TransferError) {
        fail(error)
    }

    // MARK: - Ending

    func fail(_ error: TransferError) {
        switch stage {
        case .ending, .completed: return
        case .new, .loading, .held: break
        }
        transfer?.cancel()
        let reported = urlError(error)
        let former = stage
        stage = .ending
        if consumer.settles(error, reported: reported, of: self) { return }
        stage = former
        complete(reported)
    }

    func urlError(_ error: TransferError) -> URLError {
        error.urlError(for: task?.originalRequest?.url, peer: endpoint)
    }

    /// The consumer has saved what it could.
    func end(_ error: (any Error)?) {
        if case .ending = stage { complete(error) }
    }

    var isCompleted: Bool {
        if case .completed = stage { true } else { false }
    }

    private var endpoint: Endpoint? { try? request.get().endpoint }

    private func complete(_ error: (any Error)?) {
        guard task != nil else { return }
        stage = .completed
        postMetrics()
        consumer.completed(error, of: self)
        // Before the turn ends and with it the callbacks leave.
        snapshot.withLock { $0.complete(error) }
        session.remove(self)
        transfer?.cancel()
        transfer = nil
        task = nil
        sessionCore = nil
        ownDelegate = nil
    }

    private func postMetrics() {
        guard let (delegate, task) = taskDelegate, let started,
            !session.isMissing(.collectedMetrics, in: delegate)
        else { return }
        let metrics = URLSessionTaskMetrics(
            formerTimes + (transfer.map { [$0.times] } ?? []),
            of: task,
            response: response,
            started: started,
            now: session.world.loop.now
        )
        session.outbox.post(
            .block { delegate.urlSession(task.session, task: task, didFinishCollecting: metrics) }
        )
    }
}
