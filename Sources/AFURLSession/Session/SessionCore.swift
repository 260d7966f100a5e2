import AFLoop
import AFState
import AFTransport
import AFWire
import Foundation

/// The loop's side of a session: its running tasks, its connections, its outboxes.
final class SessionCore {
    let world: World
    let loop: EventLoop
    let settings: SessionSettings
    let pool: ConnectionPool
    let deadlines: DeadlineWatch
    let downloadPlace: DownloadPlace
    /// The cookie storage, if the session sends and keeps cookies.
    let cookies: HTTPCookieStorage?
    let proven: ProvenCredentials
    /// The cache of the last load that began.
    @exclusivity(unchecked) private(set) var cache: CacheAccess
    /// Makes the scopes of what the session learns.
    let scopes: SessionScopes
    /// The stored responses that the cache is asking servers about in the background.
    @exclusivity(unchecked) private(set) var refreshes: Set<CacheEntryID> = []
    /// What waits for the last of them to end.
    @exclusivity(unchecked) private var afterRefreshes: [@Sendable () -> Void] = []
    private let rules: SessionRules
    /// How many changes of the rules the session has applied.
    @exclusivity(unchecked) private var appliedRules: UInt64
    let security: SessionSecurity
    let proxies: SessionProxies
    let codingRefusals = BodyCodingRefusals()
    /// The steps of the session's loads.
    let steps: LoadSteps
    /// The events for the monitors; nil without monitors.
    let events: EventDispatcher?
    let requestTimeout: LoopInterval
    let resourceTimeout: LoopInterval
    /// Callbacks for the delegate queue.
    let outbox: CallbackOutbox
    /// Callbacks for the main queue.
    let mainOutbox: CallbackOutbox
    /// Callbacks for queues that they name.
    let queuesOutbox: CallbackOutbox
    /// Resumes Swift tasks that await, whatever the delegate queue is doing; they go on in their own executor.
    let resumptions: CallbackOutbox
    /// Answers to questions about the session, on a queue of its own.
    let answers: CallbackOutbox
    @exclusivity(unchecked) private var optionalMethods = OptionalMethods()
    /// Methods of the session's delegate that the session must not call.
    @exclusivity(unchecked) private var ignoredMethods: URLSession.DelegateMethods = []
    /// Whether the receivers of tasks take bodies and ends in place of the delegate.
    @exclusivity(unchecked) var receiversTakeResponses = false
    /// Whether the delegate's session-level method has answered the last challenge it got.
    @exclusivity(unchecked) private var hasAnsweredChallenge = false
    /// Numbers for the delegates of single tasks.
    @exclusivity(unchecked) var delegateNumbers = DelegateNumbers()
    /// What wakes the streams and WebSockets that wait to connect again, and ends what connects before requests do.
    @exclusivity(unchecked) var sleepers: [ObjectIdentifier: () -> Void] = [:]

    @exclusivity(unchecked) private var heldDelegate: (any URLSessionDelegate)?
    @exclusivity(unchecked) private var heldTaskDelegate: (any URLSessionTaskDelegate)?
    @exclusivity(unchecked) private var heldDataDelegate: (any URLSessionDataDelegate)?
    /// The delegate, if the session does not hold it.
    @exclusivity(unchecked) private var lent: LentDelegate?
    @exclusivity(unchecked) private(set) var isInvalidated = false
    @exclusivity(unchecked) private var tasks: ContiguousArray<Load?> = []
    @exclusivity(unchecked) private var freePlaces: ContiguousArray<UInt32> = []
    /// The session to name in the last callback, until that has been made.
    @exclusivity(unchecked) private var invalidating: URLSession?

    init(
        world: World,
        settings: SessionSettings,
        rules: SessionRules,
        proxies: ProxySelection,
        delegate: (any URLSessionDelegate)?,
        lent: LentDelegate? = nil,
        callbacks: any CallbackExecutor,
        asksRegisteredClasses: Bool = false,
        events: EventDispatcher?
    ) {
        self.world = world
        loop = world.loop
        self.events = events
        self.settings = settings
        heldDelegate = delegate
        heldTaskDelegate = delegate as? any URLSessionTaskDelegate
        heldDataDelegate = delegate as? any URLSessionDataDelegate
        self.lent = lent
        deadlines = DeadlineWatch(loop: world.loop)
        downloadPlace = DownloadPlace(in: settings.folderForDownloads, by: world.wallClock)
        cookies = settings.cookies.sent
        cache = CacheAccess(cache: settings.cache.cache, in: world)
        scopes = SessionScopes(settings)
        proven = ProvenCredentials(settings: settings.credentials) {
            var generator = SystemRandomNumberGenerator()
            return (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
        }
        steps = LoadSteps(
            for: settings,
            proven: proven,
            refusals: codingRefusals,
            asksRegisteredClasses: asksRegisteredClasses,
            in: world
        )
        requestTimeout = settings.requestTimeout
        resourceTimeout = settings.resourceTimeout
        self.rules = rules
        appliedRules = rules.number
        security = SessionSecurity(rules.tls, connectionsPerHost: settings.pool.maximumConnectionsPerHost)
        self.proxies = SessionProxies(rules: proxies, connectionsPerHost: settings.pool.maximumConnectionsPerHost)
        pool = ConnectionPool(platform: world.platform, settings: settings.pool, observer: events)
        outbox = CallbackOutbox(loop: world.loop, executor: callbacks)
        mainOutbox = CallbackOutbox(loop: world.loop, executor: MainQueueExecutor(loop: world.loop))
        queuesOutbox = CallbackOutbox(loop: world.loop, executor: NamedQueueExecutor(loop: world.loop))
        let resuming = world.callbackExecutor ?? ResumingExecutor(loop: world.loop)
        resumptions = CallbackOutbox(loop: world.loop, executor: resuming)
        let answering = world.callbackExecutor ?? DispatchQueueExecutor(label: "AFURLSession.answers", for: world.loop)
        answers = CallbackOutbox(loop: world.loop, executor: answering)
    }

    // MARK: - Tasks

    private var runningTasks: Int { tasks.count - freePlaces.count }

    func add(_ load: Load) {
        loop.taskBegan()
        if let place = freePlaces.popLast() {
            load.place = place
            tasks[Int(place)] = load
        } else {
            load.place = UInt32(tasks.count)
            tasks.append(load)
        }
    }

    func remove(_ load: Load) {
        loop.taskEnded()
        tasks[Int(load.place)] = nil
        freePlaces.append(load.place)
        finishInvalidationIfIdle()
    }

    /// The tasks that have not completed, in the order in which they were made.
    ///
    /// - Parameter made: Tasks that may not have been resumed.
    func present(besides made: [URLSessionTask]) -> [URLSessionTask] {
        let running = tasks.compactMap { $0?.handle }
        let known = Set(running.map(\.taskIdentifier))
        let waiting = made.filter { $0.state != .completed && !known.contains($0.taskIdentifier) }
        return (running + waiting).sorted { $0.taskIdentifier < $1.taskIdentifier }
    }

    // MARK: - Delegates

    var delegate: (any URLSessionDelegate)? { heldDelegate ?? lent?.delegate }

    /// The delegate, if it hears about tasks.
    var taskDelegate: (any URLSessionTaskDelegate)? { heldTaskDelegate ?? lent?.task }

    /// The delegate, if it takes the bodies of responses.
    var dataDelegate: (any URLSessionDataDelegate)? { heldDataDelegate ?? lent?.data }

    private func forgetDelegate() {
        heldDelegate = nil
        heldTaskDelegate = nil
        heldDataDelegate = nil
        lent = nil
    }

    func noteMissing(_ method: OptionalMethod, in type: AnyClass) {
        optionalMethods.noteMissing(method, in: type)
    }

    /// Whether the delegate is known not to implement the method, or asks the session not to call it.
    func isMissing(_ method: OptionalMethod, in delegate: AnyObject) -> Bool {
        if !ignoredMethods.isEmpty, !ignoredMethods.isDisjoint(with: method.method), delegate === self.delegate {
            return true
        }
        if type(of: delegate) == DelegatePair.self, let pair = delegate as? DelegatePair {
            return isMissing(method, in: pair.own) && isMissing(method, in: pair.shared)
        }
        return optionalMethods.isMissing(method, in: delegate)
    }

    func ignore(_ methods: URLSession.DelegateMethods) {
        let changed = methods.symmetricDifference(ignoredMethods)
        ignoredMethods = methods
        if !changed.isDisjoint(with: [.didReceiveChallenge, .taskDidReceiveChallenge]) { othersAnswer() }
    }

    /// Notes that the delegate's session-level method got a challenge.
    ///
    /// - Returns: Whether it leaves challenges to the task's delegate that it has answered before. Then requests that
    ///   wait for connections begin anew.
    func noteChallenge(isAnswered: Bool) -> Bool {
        let isLeft = hasAnsweredChallenge && !isAnswered
        hasAnsweredChallenge = isAnswered
        if isLeft { othersAnswer() }
        return isLeft
    }

    /// From now on others answer challenges. They have accepted none of the present connections.
    func othersAnswer() {
        guard security.isInUse else { return }
        security.forget()
        _ = currentSecurity()
    }

    /// Whether the delegate answers challenges of trust and identity for all tasks, whatever delegates they have: the
    /// session asks its session-level method before those.
    var answersChallenges: Bool {
        guard hasAnsweredChallenge, let delegate else { return false }
        return !isMissing(.receivedSessionChallenge, in: delegate)
    }

    /// Whether the session undoes the content coding of the response.
    func decodesAnswer(to request: WireRequest) -> Bool {
        settings.content.decodes && !request.terms.answer.keepsCoding
    }

    // MARK: - Security

    /// Applies the rules as they are now, if they have changed: connections made before serve no further request.
    func followRules() {
        let number = rules.number
        guard number != appliedRules else { return }
        appliedRules = number
        if rules.takeForgetsAnswers(), security.isInUse { security.forget() }
        security.replace(rules.tls)
        if security.isInUse { _ = currentSecurity() }
        proxies.follow { former, present in pool.replace(former, with: present) }
    }

    /// The TLS rules for a request that leaves now.
    func currentSecurity() -> SecurityContext {
        followRules()
        return security.context { former, present in pool.replace(former, with: present) }
    }

    // MARK: - Ending

    /// - Parameter cancelling: Whether to cancel running tasks, or to let them finish.
    func invalidate(_ session: URLSession, cancelling: Bool) {
        // After the end of all tasks that are cancelled here.
        let last = isInvalidated ? invalidating : session
        isInvalidated = true
        invalidating = nil
        for wake in sleepers.values { wake() }
        for task in session.madeTasks where task.cancelIfSuspended() { task.load.value.reconcile(task) }
        if cancelling {
            for load in tasks { load?.fail(.cancelled) }
        }
        invalidating = last
        finishInvalidationIfIdle()
    }

    private func finishInvalidationIfIdle() {
        guard isInvalidated, runningTasks == 0, let session = invalidating else { return }
        invalidating = nil
        pool.shutDown()
        deadlines.shutDown()
        guard let delegate else { return }
        forgetDelegate()
        session.forgetDelegate()
        outbox.post(.block { delegate.urlSession(session, didBecomeInvalidWithError: nil) })
    }

    /// The program has released the session, and no longer has any way to use it.
    func abandon() {
        isInvalidated = true
        for end in sleepers.values { end() }
        forgetDelegate()
        pool.shutDown()
        deadlines.shutDown()
    }

    /// The cache for a load that begins now; nil if it is the session's for ever.
    ///
    /// A load keeps the cache it began with: what one cache has found is not stored in another.
    func cacheThatMayChange() -> CacheAccess? {
        guard case .present = settings.cache else { return nil }
        updateCache()
        return cache
    }

    /// Takes the program's cache, if the program has set another one and the session follows it.
    private func updateCache() {
        guard case .present = settings.cache, case let shared = URLCache.shared, shared !== cache.cache else { return }
        cache = CacheAccess(cache: shared, in: world)
    }

    /// Makes new requests use new connections, and forgets what the session has learnt and stored.
    func reset(_ handler: @escaping @Sendable () -> Void) {
        security.forget()
        _ = currentSecurity()
        proxies.forget()
        proven.forgetAll()
        settings.credentials.storage?.removeAll()
        settings.cookies.storage?.removeCookies(since: .distantPast)
        updateCache()
        cache.cache?.store.forgetAll()
        pool.retireAll()
        writeStores(handler)
    }

    /// Returns whether no refresh of the entry runs yet.
    func beginRefresh(of entry: CacheEntryID) -> Bool { refreshes.insert(entry).inserted }

    func endRefresh(of entry: CacheEntryID) {
        refreshes.remove(entry)
        guard refreshes.isEmpty else { return }
        let waiting = afterRefreshes
        afterRefreshes = []
        for handler in waiting { writeStores(handler) }
    }

    /// Makes new requests use new connections, and writes to the disk what it has to hold, once the refreshes in the
    /// background have stored what they bring.
    func flush(_ handler: @escaping @Sendable () -> Void) {
        pool.retireAll()
        if refreshes.isEmpty { writeStores(handler) } else { afterRefreshes.append(handler) }
    }

    private func writeStores(_ handler: @escaping @Sendable () -> Void) {
        updateCache()
        let bound = LoopBound(confined: self, on: loop)
        let (stored, cookies) = (cache.cache?.store, settings.cookies.storage)
        world.workers.ownWorker("AFURLSession.stores").run { [world] in
            stored?.catchUp()
            // The storage reports the errors of its file itself.
            try? cookies?.flush()
            world.enqueue { bound.value.outbox.post(.block(handler)) }
        }
    }
}
