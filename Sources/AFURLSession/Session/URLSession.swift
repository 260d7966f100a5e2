import AFBase
import AFLoop
import AFTransport
import AFWire
import Dispatch
public import Foundation
import Synchronization

/// Loads HTTP resources: makes tasks, shares connections among them, and calls back.
///
/// ```swift
/// let (data, response) = try await URLSession.shared.data(from: url)
/// ```
///
/// One network thread serves all sessions of a process. You may use a session from any thread. Running tasks keep it
/// alive; when the last reference is gone, it closes its idle connections.
///
/// A session holds its tasks from the moment they are made until they end. So a task that you neither resume nor cancel
/// stays, with its handler and its session, until you invalidate the session, which cancels it. Invalidate a session
/// whose tasks may never be resumed; for others you need not.
public final class URLSession: NSObject, Sendable {
    /// What to do with a response whose head has arrived.
    @nonexhaustive
    public enum ResponseDisposition: Int, Sendable {
        /// The task fails with `URLError.cancelled`.
        case cancel = 0
        /// The session delivers the body.
        case allow = 1
        /// The body goes to a file: a download task takes the place of the data task. The session passes it to the
        /// delegate with `urlSession(_:dataTask:didBecome:)`.
        case becomeDownload = 2
        /// You read the rest of the body as a stream: a stream task takes the place of the data task. The session
        /// passes it to the delegate with `urlSession(_:dataTask:didBecome:)`.
        ///
        /// If only the end of the connection ends the body, and the body has no content coding, the stream task is the
        /// connection itself, and you can write to it. Otherwise it reads the body, decoded, and its end.
        case becomeStream = 3
    }

    /// What to do with a task whose earliest date has come.
    @nonexhaustive
    public enum DelayedRequestDisposition: Int, Sendable {
        /// Load the request.
        case continueLoading = 0
        /// Load another request.
        case useNewRequest = 1
        /// The task fails with `URLError.cancelled`.
        case cancel = 2
    }

    struct State {
        var description: String?
        var delegate: (any URLSessionDelegate)?
        /// The delegate, if it hears of resumed and suspended tasks.
        var stateDelegate: (any URLSessionTaskStateDelegate)?
        /// The delegate, if the session does not hold it; the two above are nil then.
        var lent: LentDelegate?
        var receiversTakeResponses = false
        var ignoredDelegateMethods: DelegateMethods = []
        /// Tasks that may not have been resumed.
        var made = MadeTasks()
        /// Whether the session is invalidated: it does not hold tasks that are made from now on, because it would never
        /// release them.
        var isInvalidated = false
    }

    /// The session for simple requests: default configuration, no delegate. You cannot invalidate it.
    public static let shared = URLSession(
        configuration: .ofProcess,
        delegate: nil,
        callbackQueue: DelegateQueue(),
        world: .system,
        asksRegisteredClasses: true
    )

    /// The queue that calls delegate methods and completion handlers. Serial unless you passed one that is not; the
    /// callbacks of a session come one at a time either way. With ``URLSessionConfiguration/callsBackOnNetworkThread``
    /// the session calls nothing here.
    public var delegateQueue: OperationQueue { callbackQueue.queue }

    let world: World
    let settings: SessionSettings
    let headers: HeaderDefaults
    let core: LoopBound<SessionCore>
    private let rules: SessionRules
    private let rulesWatch: RulesWatch
    /// The events for the monitors; nil without monitors.
    private let events: EventDispatcher?
    private let callbacks: any CallbackExecutor
    let callbackQueue: DelegateQueue
    private let ownConfiguration: URLSessionConfiguration
    let state: Lock<State>
    /// Tasks are numbered from 1.
    private let taskCount = Atomic<Int>(0)
    /// The missing methods as the loop knows them, but a moment earlier.
    private let missing = Lock(OptionalMethods())
    /// Whether the delegate hears of resumed and suspended tasks.
    let tellsTaskStates: Bool
    /// Whether the session holds its delegate until it is invalid, or the delegate owns the session.
    let holdsDelegate: Bool

    /// Makes a session without a delegate, with a serial queue of its own for completion handlers.
    public convenience init(configuration: URLSessionConfiguration) {
        self.init(configuration: configuration, delegate: nil, delegateQueue: nil)
    }

    /// Makes a session.
    ///
    /// - Parameters:
    ///   - configuration: The session copies it; later changes to it have no effect.
    ///   - delegate: The session holds it strongly until it has become invalid.
    ///   - queue: The queue for callbacks. Nil makes a serial queue. In a program whose main thread is blocked no
    ///   callback arrives on the main queue.
    public convenience init(
        configuration: URLSessionConfiguration,
        delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?
    ) {
        self.init(configuration: configuration, delegate: delegate, delegateQueue: queue, world: .system)
    }

    /// Makes a session in a world of its own.
    package convenience init(
        configuration: URLSessionConfiguration,
        delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?,
        world: World
    ) {
        let queue = queue.map(DelegateQueue.init) ?? DelegateQueue()
        self.init(configuration: configuration, delegate: delegate, callbackQueue: queue, world: world)
    }

    /// Makes a session in a world of its own.
    ///
    /// - Parameter holdsDelegate: False for a delegate that owns the session: when the program has let go of the delegate,
    ///   and no task runs, both are released.
    package init(
        configuration: URLSessionConfiguration,
        delegate: (any URLSessionDelegate)?,
        callbackQueue: DelegateQueue,
        world: World,
        asksRegisteredClasses: Bool = false,
        holdsDelegate: Bool = true
    ) {
        let settings = configuration.settings
        self.world = world
        self.settings = settings
        headers = HeaderDefaults(
            additionalHeaders: settings.additionalHeaders,
            decodes: settings.content.decodes,
            bodyCoding: settings.content.bodyCoding
        )
        self.callbackQueue = callbackQueue
        let inPlace = callbackQueue.isOwn && settings.callsBackOnNetworkThread ? LoopExecutor() : nil
        callbacks =
            world.callbackExecutor ?? inPlace
            ?? OperationQueueExecutor(queue: callbackQueue, for: world.loop)
        ownConfiguration = URLSessionConfiguration(settings)
        self.holdsDelegate = holdsDelegate
        let stateDelegate = delegate as? any URLSessionTaskStateDelegate
        let lent = holdsDelegate ? nil : delegate.map(LentDelegate.init)
        state = Lock(
            lent == nil ? State(delegate: delegate, stateDelegate: stateDelegate) : State(lent: lent)
        )
        tellsTaskStates = stateDelegate != nil
        let events = EventDispatcher(monitors: settings.monitoring.monitors, in: world)
        self.events = events
        rules = SessionRules(settings.tls)
        let agent = headers.all.firstField("User-Agent")
        let proxies = settings.proxies.rules(agent: agent, environment: world.environment)
        core = LoopBound(
            SessionCore(
                world: world,
                settings: settings,
                rules: rules,
                proxies: proxies,
                delegate: lent == nil ? delegate : nil,
                lent: lent,
                callbacks: callbacks,
                asksRegisteredClasses: asksRegisteredClasses,
                events: events
            ),
            on: world.loop
        )
        rulesWatch = RulesWatch(rules: rules, proxies: proxies.allTLS) { [world, core] in
            // The child of a fork has no loop, and must not touch the lock of its inbox.
            guard world.unavailability() == nil else { return }
            world.enqueue { core.value.followRules() }
        }
        super.init()
        if !settings.pool.minimumIdleConnections.isEmpty { keepIdleConnections() }
    }

    deinit {
        world.enqueue { [core] in core.value.abandon() }
    }

    /// A copy of the configuration the session was made with.
    public var configuration: URLSessionConfiguration { ownConfiguration.copied() }

    /// The delegate, until the session has become invalid.
    public var delegate: (any URLSessionDelegate)? {
        let (held, lent) = state.withLock { ($0.delegate, $0.lent) }
        return held ?? lent?.delegate
    }

    /// A name for the session, for your own use.
    public var sessionDescription: String? {
        get { state.withLock { $0.description } }
        set { state.withLock { $0.description = newValue } }
    }

    /// How the session secures connections.
    ///
    /// You may change it at any time. A change holds for every request that has not begun; connections made before it
    /// serve no further request.
    public var tls: TLSConfiguration {
        get { rules.tls }
        set { rulesWatch.replace(newValue) }
    }

    /// Called by the default implementation of a delegate's `async` method: `delegate` has no other, unless one of its own
    /// has called this one.
    func noteDefault(_ method: OptionalMethod, of delegate: AnyObject) {
        if DefaultCall.hasReached(method, of: delegate) { noteMissing(method, in: delegate) }
    }

    /// Called by the default implementation of a delegate's method: `delegate` has no other.
    func noteMissing(_ method: OptionalMethod, in delegate: AnyObject) {
        noteMissing(method, in: type(of: delegate))
    }

    private func noteMissing(_ method: OptionalMethod, in type: AnyClass) {
        // The child of a fork has no loop, and must not touch the lock of its inbox.
        guard world.unavailability() == nil else { return }
        guard missing.withLock({ $0.noteMissing(method, in: type) }) else { return }
        world.enqueue { [core] in core.value.noteMissing(method, in: type) }
    }

    /// Whether the delegate is known not to implement the method, or asks the session not to call it. For the delegate
    /// queue; the loop asks ``SessionCore``.
    func isMissing(_ method: OptionalMethod, in delegate: AnyObject) -> Bool {
        if missing.withLock({ $0.isMissing(method, in: delegate) }) { return true }
        return state.withLock {
            ($0.delegate ?? $0.lent?.delegate) === delegate
                && !$0.ignoredDelegateMethods.isDisjoint(with: method.method)
        }
    }

    func forgetDelegate() {
        state.withLock { state in
            state.delegate = nil
            state.stateDelegate = nil
            state.lent = nil
        }
    }

    // MARK: - Making tasks

    func makeDataTask(
        _ request: URLRequest,
        isAwaited: Bool = false,
        completion: DataCompletion? = nil
    ) -> URLSessionDataTask {
        make {
            let consumer = URLSessionTask.consumer(isAwaited: isAwaited, completion: completion)
            return URLSessionDataTask(request, identifier: $0, in: self, consumer: consumer, completion: completion)
        }
    }

    func makeUploadTask(
        _ request: URLRequest,
        body: TaskBody,
        isAwaited: Bool = false,
        completion: DataCompletion? = nil
    ) -> URLSessionUploadTask {
        make {
            let consumer = URLSessionTask.consumer(isAwaited: isAwaited, completion: completion)
            return URLSessionUploadTask(
                request,
                identifier: $0,
                in: self,
                body: body,
                consumer: consumer,
                completion: completion
            )
        }
    }

    /// Makes a task with the next number, and holds it until it runs.
    ///
    /// - Parameter receiver: Takes the response for the task's owner.
    func make<Task: URLSessionTask>(
        for receiver: (any TaskReceiver)? = nil,
        body: (_ identifier: Int) -> Task
    ) -> Task {
        let task = body(taskCount.wrappingAdd(1, ordering: .relaxed).newValue)
        if let receiver { task.receiver = receiver } else if !holdsDelegate { keepDelegate(for: task) }
        events?.created(task)
        state.withLock { state in
            if !state.isInvalidated { state.made.add(task) }
        }
        return task
    }

    /// Forgets a task that the loop now knows, or will never know.
    func forgetMade(_ task: URLSessionTask) {
        state.withLock { $0.made.remove(task) }
    }

    /// Tasks that the loop does not know yet.
    var madeTasks: [URLSessionTask] { state.withLock { $0.made.tasks } }
}

// MARK: - Ignored methods

extension URLSession {
    /// Methods of a delegate that change what a session does, or save it work if the delegate does without them.
    public struct DelegateMethods: OptionSet, Sendable {
        /// A bit for each method.
        public let rawValue: UInt8

        /// The methods of these bits.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The session-level method for challenges. Without it the session asks the task-level one.
        public static let didReceiveChallenge = DelegateMethods(rawValue: 1)
        /// The task-level method for challenges. Without it the session handles them in the standard way.
        public static let taskDidReceiveChallenge = DelegateMethods(rawValue: 2)
        /// The method for redirects. Without it the session's ``/AFURLTypes/RedirectPolicy`` decides.
        public static let taskWillPerformHTTPRedirection = DelegateMethods(rawValue: 4)
        /// The method for responses. Without it the session delivers every body, and waits for no answer.
        public static let dataTaskDidReceiveResponse = DelegateMethods(rawValue: 8)
        /// The method for cached responses. Without it the session caches responses as they are.
        public static let dataTaskWillCacheResponse = DelegateMethods(rawValue: 16)
        /// The method for metrics. Without it the session collects none.
        public static let taskDidFinishCollectingMetrics = DelegateMethods(rawValue: 32)
        /// The method for delayed requests. Without it tasks with an earliest date load their own request.
        public static let taskWillBeginDelayedRequest = DelegateMethods(rawValue: 64)
    }

    /// Methods that the session does not call although its delegate has them; none unless set.
    ///
    /// For a delegate that has every method but does not always need each. You may change it at any time; it is sure to
    /// hold for tasks that you resume after that. It does not concern the delegates of single tasks.
    public var ignoredDelegateMethods: DelegateMethods {
        get { state.withLock { $0.ignoredDelegateMethods } }
        set {
            state.withLock { $0.ignoredDelegateMethods = newValue }
            // The job reads it again: if two threads set it, the loop ends with the value that stays.
            world.enqueue { [self] in core.value.ignore(ignoredDelegateMethods) }
        }
    }
}

extension URLSession {
    /// Call it when the delegate begins to answer challenges by other rules: requests that have not begun share no
    /// connection, TLS session or stored response with a server that the delegate accepted before.
    package func forgetAnswers() {
        rulesWatch.forgetAnswers()
    }

    /// Notes that delegates of this class answer no challenges. The session would learn it when it first asks one.
    package func noteChallengesMissing(in type: AnyClass) {
        noteMissing(.receivedSessionChallenge, in: type)
        noteMissing(.receivedTaskChallenge, in: type)
    }
}

extension OptionalMethod {
    /// The public bit of the method; empty for methods that cannot be ignored.
    var method: URLSession.DelegateMethods {
        switch self {
        case .receivedResponse: .dataTaskDidReceiveResponse
        case .collectedMetrics: .taskDidFinishCollectingMetrics
        case .receivedSessionChallenge: .didReceiveChallenge
        case .receivedTaskChallenge: .taskDidReceiveChallenge
        case .willRedirect: .taskWillPerformHTTPRedirection
        case .willCacheResponse: .dataTaskWillCacheResponse
        case .willBeginDelayed: .taskWillBeginDelayedRequest
        case .receivedInterim, .completed, .sentBody, .needsBodyStream, .waitsForConnectivity, .receivedData,
            .becameDownload, .becameStream, .finishedDownload, .wroteDownload, .resumedDownload, .closedReading,
            .closedWriting,
            .becameStreams, .openedWebSocket, .closedWebSocket:
            []
        }
    }
}

// MARK: - Data tasks

extension URLSession {
    /// Makes a task whose response goes to the session's delegate.
    public func dataTask(with request: URLRequest) -> URLSessionDataTask {
        makeDataTask(request)
    }

    /// Makes a task whose response goes to the session's delegate.
    public func dataTask(with url: URL) -> URLSessionDataTask {
        makeDataTask(URLRequest(url: url))
    }

    /// Makes a task that passes its whole response to `completionHandler`.
    ///
    /// - Parameters:
    ///   - request: The request to load.
    ///   - completionHandler: Called once, on the delegate queue: with data and response, or with an error, and then
    ///   with the response too if its head had arrived. An HTTP error status is not an error.
    @preconcurrency
    public func dataTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        makeDataTask(request, completion: completionHandler)
    }

    /// Makes a task that passes its whole response to `completionHandler`.
    @preconcurrency
    public func dataTask(
        with url: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        makeDataTask(URLRequest(url: url), completion: completionHandler)
    }
}

// MARK: - Present tasks

extension URLSession {
    /// Finds all tasks that have not completed, in the order in which they were made.
    ///
    /// - Parameter completionHandler: Called on a queue of the session's own, never on the delegate queue: a caller
    ///   that blocks the delegate queue until the answer comes gets it.
    @preconcurrency
    public func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
        let made = madeTasks
        world.enqueue { [core] in
            let all = core.value.present(besides: made)
            core.value.answers.post(.block { completionHandler(all) })
        }
    }

    /// The same for a caller who waits: at once on the network thread, which elsewhere answers from its next turn.
    package func waitForAllTasks() -> [URLSessionTask] {
        let made = madeTasks
        guard !world.loop.isOnLoop else { return core.value.present(besides: made) }
        // Without a network thread no task has begun.
        guard world.unavailability() == nil else { return made.filter { $0.state != .completed } }
        let found = Lock<[URLSessionTask]>([])
        let isHere = DispatchSemaphore(value: 0)
        world.enqueue { [core] in
            let all = core.value.present(besides: made)
            found.withLock { $0 = all }
            isHere.signal()
        }
        isHere.wait()
        return found.withLock { $0 }
    }

    /// All tasks that have not completed, in the order in which they were made.
    public var allTasks: [URLSessionTask] {
        get async {
            await withCheckedContinuation { continuation in
                getAllTasks { continuation.resume(returning: $0) }
            }
        }
    }
}

// MARK: - Ending

extension URLSession {
    /// Takes no new tasks and lets running ones finish, also those that are suspended. Then it calls `didBecomeInvalid`
    /// of the delegate, as the very last call, and releases the delegate.
    ///
    /// It cancels tasks that have not begun: those never resumed, and those suspended again before the session could begin
    /// them. (Apple's session waits for them, for ever if they are never resumed.) A task resumed from now on fails at
    /// once, with an error that says so. Has no effect on ``shared``.
    public func finishTasksAndInvalidate() {
        invalidate(cancelling: false)
    }

    /// Cancels all tasks, also those never resumed, and invalidates the session as
    /// ``finishTasksAndInvalidate()`` does. Has no effect on ``shared``.
    public func invalidateAndCancel() {
        invalidate(cancelling: true)
    }

    private func invalidate(cancelling: Bool) {
        guard self !== URLSession.shared else { return }
        state.withLock { $0.isInvalidated = true }
        if cancelling {
            for task in madeTasks { task.cancel() }
        }
        world.enqueue { [self] in core.value.invalidate(self, cancelling: cancelling) }
    }

    /// Forgets everything: the cookies, cached responses and credentials of the configured stores, even if others use
    /// them, and also on the disk; the credentials that servers accepted, and TLS sessions. Closes idle connections,
    /// and lets those in use end with their exchange. Calls back on the delegate queue once the disk has followed.
    ///
    /// Requests resumed after that use new connections. What the configuration itself names stays: a netrc file, an
    /// ``/AFState/HSTSStore``, proxies.
    @preconcurrency
    public func reset(completionHandler: @escaping @Sendable () -> Void) {
        world.enqueue { [core] in core.value.reset(completionHandler) }
    }

    /// Writes cookies and cached responses to the disk, and closes connections as ``reset(completionHandler:)`` does.
    /// Forgets nothing. It waits until the refreshes of stale responses have ended that run in the background.
    @preconcurrency
    public func flush(completionHandler: @escaping @Sendable () -> Void) {
        world.enqueue { [core] in core.value.flush(completionHandler) }
    }
}

/// A session's delegate that the session does not hold, in the roles in which it is called.
///
/// A session holds its delegate until it has become invalid, as Apple's does. A manager owns its session and is the delegate:
/// if each held the other, a program that makes a manager for each request, and invalidates none, would keep all of them with
/// their connections. So a manager lends itself. What works for it holds it: its tasks until they end, its streams and
/// WebSockets between two of theirs.
final class LentDelegate: Sendable {
    weak let delegate: (any URLSessionDelegate)?
    weak let task: (any URLSessionTaskDelegate)?
    weak let data: (any URLSessionDataDelegate)?
    weak let states: (any URLSessionTaskStateDelegate)?

    init(_ delegate: any URLSessionDelegate) {
        self.delegate = delegate
        task = delegate as? any URLSessionTaskDelegate
        data = delegate as? any URLSessionDataDelegate
        states = delegate as? any URLSessionTaskStateDelegate
    }
}

extension URLSession {
    /// The delegate, for one that works for it longer than a task; nil if the session holds its delegate itself.
    var lentDelegate: (any URLSessionDelegate)? {
        holdsDelegate ? nil : state.withLock { $0.lent }?.delegate
    }

    /// Has the task hold the delegate until its end. If the delegate is gone, so is who answers for this session, and the
    /// session ends: its tasks fail.
    func keepDelegate(for task: URLSessionTask) {
        guard let delegate = lentDelegate else { return invalidateAndCancel() }
        task.snapshot.withLock { $0.plans.value.sessionDelegate = delegate }
    }
}

/// Tasks that were made and have not run. The session holds them until they run, are cancelled, or the session ends, as
/// Apple's does: code keeps a weak reference to a task, or none, between making and resuming it.
struct MadeTasks {
    private var entries: ContiguousArray<URLSessionTask?> = []
    private var freePlaces: ContiguousArray<Int32> = []

    mutating func add(_ task: URLSessionTask) {
        guard let place = freePlaces.popLast() else {
            task.madePlace = Int32(entries.count)
            return entries.append(task)
        }
        task.madePlace = place
        entries[Int(place)] = task
    }

    /// Does nothing if the task is not here. The caller holds the task: its `deinit` must not run under a lock.
    mutating func remove(_ task: URLSessionTask) {
        guard let place = task.madePlace else { return }
        task.madePlace = nil
        entries[Int(place)] = nil
        freePlaces.append(place)
    }

    var tasks: [URLSessionTask] { entries.compactMap(\.self) }
}

extension EventDispatcher {
    func created(_ task: URLSessionTask) {
        let request = task.originalRequest
        guard request != nil || !(task is URLSessionStreamTask) else {
            return post(.created(method: "STREAM", url: ""), task: task.taskIdentifier)
        }
        let url = request?.url.map(SecretMask().url) ?? ""
        post(.created(method: request?.httpMethod ?? "GET", url: url), task: task.taskIdentifier)
    }
}
