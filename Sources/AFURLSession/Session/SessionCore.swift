import AFLoop
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
    /// Where cookies are, if the session sends and keeps any.
    let cookies: HTTPCookieStorage?
    let proven: ProvenCredentials
    let cache: CacheDoor
    /// What servers are being asked about on behalf of the cache.
    @exclusivity(unchecked) var refreshes: Set<CacheEntryID> = []
    /// Somebody is interested in what responses say beyond themselves.
    let learnsFromHeads: Bool
    private let security: SessionSecurity
    let proxies: SessionProxies
    /// To classes of the program that load in place of the session, if there may be any.
    let protocols: ProtocolDoor?
    /// Who has a say in its requests.
    let interceptors: [any TaskInterceptor]
    /// Who looks on, if anybody does.
    let events: EventDesk?
    let requestTimeout: LoopInterval
    let resourceTimeout: LoopInterval
    /// To the delegate queue.
    let outbox: CallbackOutbox
    /// To those who await, whatever the delegate queue is doing: resumes them, which puts
    /// them on their own executor.
    let resumptions: CallbackOutbox
    /// Answers to questions about the session, on a queue of its own.
    let answers: CallbackOutbox
    @exclusivity(unchecked) private var optionalMethods = OptionalMethods()
    /// Methods that the session's delegate does not want to be called.
    @exclusivity(unchecked) private var ignoredMethods: URLSession.DelegateMethods = []
    /// The session-level method of the delegate has answered the last challenge that was put to it.
    @exclusivity(unchecked) private var hasAnsweredChallenge = false
    /// Of delegates that single tasks have.
    @exclusivity(unchecked) var delegateNumbers = DelegateNumbers()

    @exclusivity(unchecked) private(set) var delegate: (any URLSessionDelegate)?
    /// The delegate, if it wants to hear about tasks.
    @exclusivity(unchecked) private(set) var taskDelegate: (any URLSessionTaskDelegate)?
    /// The delegate, if it wants the bodies of responses.
    @exclusivity(unchecked) private(set) var dataDelegate: (any URLSessionDataDelegate)?
    @exclusivity(unchecked) private(set) var isInvalidated = false
    @exclusivity(unchecked) private var tasks: ContiguousArray<TaskCore?> = []
    @exclusivity(unchecked) private var freePlaces: ContiguousArray<Int> = []
    /// The handle to name in the last callback, until that was made.
    @exclusivity(unchecked) private var invalidating: URLSession?

    init(
        world: World,
        settings: SessionSettings,
        headers: HeaderDefaults,
        delegate: (any URLSessionDelegate)?,
        callbacks: any CallbackExecutor,
        asksRegisteredClasses: Bool = false,
        events: EventDesk?
    ) {
        self.world = world
        loop = world.loop
        self.events = events
        self.settings = settings
        interceptors = settings.interception.interceptors
        self.delegate = delegate
        taskDelegate = delegate as? any URLSessionTaskDelegate
        dataDelegate = delegate as? any URLSessionDataDelegate
        deadlines = DeadlineWatch(loop: world.loop)
        cookies = settings.cookies.setsCookies && settings.cookies.policy != .never ? settings.cookies.storage : nil
        protocols = ProtocolDoor(settings.protocols, asksRegistered: asksRegisteredClasses, in: world)
        cache = CacheDoor(settings.cache.cache, in: world)
        learnsFromHeads = cookies != nil || settings.transportSecurity != nil
        proven = ProvenCredentials(settings.credentials) {
            var generator = SystemRandomNumberGenerator()
            return (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
        }
        requestTimeout = settings.requestTimeout
        resourceTimeout = settings.resourceTimeout
        security = SessionSecurity(settings.tls, connectionsPerHost: settings.maximumConnectionsPerHost)
        let rules = settings.proxies.rules(agentLine: headers.userAgentLine, environment: world.environment)
        proxies = SessionProxies(rules, connectionsPerHost: settings.maximumConnectionsPerHost)
        pool = ConnectionPool(platform: world.platform, settings: settings.pool, observer: events)
        outbox = CallbackOutbox(loop: world.loop, executor: callbacks)
        let resuming = world.callbackExecutor ?? ResumingExecutor(loop: world.loop)
        resumptions = CallbackOutbox(loop: world.loop, executor: resuming)
        let answering = world.callbackExecutor ?? DispatchQueueExecutor(label: "AFURLSession.answers", for: world.loop)
        answers = CallbackOutbox(loop: world.loop, executor: answering)
    }

    // MARK: - Tasks

    private var runningTasks: Int { tasks.count - freePlaces.count }

    func add(_ core: TaskCore) {
        if let place = freePlaces.popLast() {
            core.place = place
            tasks[place] = core
        } else {
            core.place = tasks.count
            tasks.append(core)
        }
    }

    func remove(_ core: TaskCore) {
        tasks[core.place] = nil
        freePlaces.append(core.place)
        finishInvalidationIfIdle()
    }

    var running: [URLSessionTask] { tasks.compactMap { $0?.handle } }

    // MARK: - Delegates

    func noteMissing(_ method: OptionalMethod, in type: AnyClass) {
        optionalMethods.noteMissing(method, in: type)
    }

    /// Whether the delegate is known to have no method of its own for this, or none that it wants to be called.
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

    /// A challenge was put to the session-level method of the delegate.
    ///
    /// - Returns: Whether it leaves challenges to others that it has answered before. Requests that wait for connections
    ///   begin anew then.
    func noteChallenge(isAnswered: Bool) -> Bool {
        let isLeft = hasAnsweredChallenge && !isAnswered
        hasAnsweredChallenge = isAnswered
        if isLeft { othersAnswer() }
        return isLeft
    }

    /// Others answer challenges from now on. They have accepted nothing of what there is.
    private func othersAnswer() {
        guard security.isInUse else { return }
        security.forget()
        _ = currentSecurity()
    }

    /// The delegate answers challenges of trust and identity for all tasks, whatever delegates they have: its
    /// session-level method is asked before those.
    var answersChallenges: Bool {
        guard hasAnsweredChallenge, let delegate else { return false }
        return !isMissing(.receivedSessionChallenge, in: delegate)
    }

    // MARK: - Security

    func replaceTLS(_ configuration: TLSConfiguration) {
        security.replace(configuration)
        _ = currentSecurity()
    }

    /// The rules for a task that starts now.
    func currentSecurity() -> SecurityContext {
        security.context { former, present in pool.replace(former, with: present) }
    }

    /// Whether the session's evaluator would have to be asked about this server, and
    /// will not be, because the server is to be talked to without TLS.
    func forbidsPlainText(to endpoint: Endpoint) -> Bool {
        endpoint.scheme == .http && security.forbidsPlainText(to: endpoint.host.text)
    }

    // MARK: - Ending

    /// - Parameter cancelling: Whether running tasks are cancelled, or may finish.
    func invalidate(_ session: URLSession, cancelling: Bool) {
        // Not before all that is cancelled here has ended.
        let last = isInvalidated ? invalidating : session
        isInvalidated = true
        invalidating = nil
        for task in session.madeTasks where task.cancelIfSuspended() { task.core.value.reconcile(task) }
        if cancelling {
            for core in tasks { core?.fail(.cancelled) }
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
        self.delegate = nil
        taskDelegate = nil
        dataDelegate = nil
        session.forgetDelegate()
        outbox.post(.block { delegate.urlSession(session, didBecomeInvalidWithError: nil) })
    }

    /// The last handle is gone, and with it every way to use the session.
    func abandon() {
        isInvalidated = true
        delegate = nil
        taskDelegate = nil
        dataDelegate = nil
        pool.shutDown()
        deadlines.shutDown()
    }

    /// New requests get new connections, and nothing that was learnt or kept before.
    func reset(_ handler: @escaping @Sendable () -> Void) {
        security.forget()
        _ = currentSecurity()
        proxies.forget()
        proven.forgetAll()
        settings.credentials.storage?.removeAll()
        settings.cookies.storage?.removeCookies(since: .distantPast)
        cache.cache?.store.forgetAll()
        flush(handler)
    }

    /// New requests get new connections, and disks have what they are to have.
    func flush(_ handler: @escaping @Sendable () -> Void) {
        pool.retireAll()
        let bound = LoopBound(confined: self, on: loop)
        let (stored, cookies) = (cache.cache?.store, settings.cookies.storage)
        world.workers.ownWorker("AFURLSession.stores").run { [world] in
            stored?.catchUp()
            // The storage tells what was wrong with its file.
            try? cookies?.flush()
            world.enqueue { bound.value.outbox.post(.block(handler)) }
        }
    }
}
