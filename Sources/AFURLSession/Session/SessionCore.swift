import AFLoop
import AFWire
import Foundation

/// The loop's side of a session: its running tasks, its connections, its outboxes.
final class SessionCore {
    let world: World
    let settings: SessionSettings
    let pool: ConnectionPool
    let deadlines: DeadlineWatch
    private let security: SessionSecurity
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
        delegate: (any URLSessionDelegate)?,
        callbacks: any CallbackExecutor
    ) {
        self.world = world
        self.settings = settings
        self.delegate = delegate
        taskDelegate = delegate as? any URLSessionTaskDelegate
        dataDelegate = delegate as? any URLSessionDataDelegate
        deadlines = DeadlineWatch(loop: world.loop)
        requestTimeout = settings.requestTimeout
        resourceTimeout = settings.resourceTimeout
        security = SessionSecurity(settings.tls, connectionsPerHost: settings.maximumConnectionsPerHost)
        pool = ConnectionPool(world: world, limits: settings.poolLimits, continuePatience: settings.continuePatience)
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

    /// Whether the delegate is known to have no method of its own for this.
    func isMissing(_ method: OptionalMethod, in delegate: AnyObject) -> Bool {
        optionalMethods.isMissing(method, in: delegate)
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
        if !isInvalidated {
            isInvalidated = true
            invalidating = session
        }
        if cancelling {
            for core in tasks { core?.fail(.cancelled) }
        }
        finishInvalidationIfIdle()
    }

    private func finishInvalidationIfIdle() {
        guard isInvalidated, runningTasks == 0, let session = invalidating else { return }
        invalidating = nil
        pool.shutDown()
        deadlines.stop()
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
        deadlines.stop()
    }

    /// New requests get new connections.
    func retireConnections() {
        pool.retireAll()
    }

    /// Calls back when everything asked for before has been done.
    func confirm(_ handler: @escaping @Sendable () -> Void) {
        outbox.post(.block(handler))
    }
}
