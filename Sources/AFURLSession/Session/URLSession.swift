import AFBase
import AFLoop
import AFTransport
import AFWire
import Dispatch
public import Foundation

/// Loads HTTP resources: makes tasks, shares connections among them, and calls back.
///
/// ```swift
/// let (data, response) = try await URLSession.shared.data(from: url)
/// ```
///
/// All sessions of a process are served by one network thread. A session may be used
/// from any thread. Tasks that run keep it alive; when the last reference is gone its
/// idle connections are closed.
///
/// A session holds its tasks from the moment they are made until they end. So a task that
/// is neither resumed nor cancelled stays, with its handler and its session, until the
/// session is invalidated, which cancels it. Invalidate a session in which tasks are made
/// that may never be resumed; for others it is a courtesy.
public final class URLSession: NSObject, Sendable {
    /// What to do with a response whose head has arrived.
    public enum ResponseDisposition: Int, Sendable {
        /// The task fails with `URLError.cancelled`.
        case cancel = 0
        /// The body is delivered.
        case allow = 1
        /// The body goes to a file: a download task takes the place of the data task, and is
        /// named to the delegate by `urlSession(_:dataTask:didBecome:)`.
        case becomeDownload = 2
        /// The rest of the body is read as a stream: a stream task takes the place of the data task, and is named to
        /// the delegate by `urlSession(_:dataTask:didBecome:)`.
        ///
        /// If nothing but the end of the connection ends the body, and it has no content coding, the stream task is the
        /// connection itself, and can be written to. Otherwise it reads the body, decoded, and its end.
        case becomeStream = 3
    }

    /// What to do with a task whose date has come.
    public enum DelayedRequestDisposition: Int, Sendable {
        /// Load the request.
        case continueLoading = 0
        /// Load another request.
        case useNewRequest = 1
        /// The task fails with `URLError.cancelled`.
        case cancel = 2
    }

    struct State {
        var nextTaskIdentifier = 1
        var description: String?
        var tls: TLSConfiguration
        var delegate: (any URLSessionDelegate)?
        var ignoredDelegateMethods: DelegateMethods = []
        /// Tasks that may not have been resumed.
        var made = MadeTasks()
        /// Tasks that are made now are not held: nothing would let go of them.
        var isInvalidated = false
    }

    /// The session for simple requests: default configuration, no delegate. It cannot
    /// be invalidated.
    public static let shared = URLSession(
        configuration: .default,
        delegate: nil,
        delegateQueue: nil,
        world: .system,
        asksRegisteredClasses: true
    )

    /// Where delegate methods and completion handlers are called. Serial unless you
    /// passed one that is not; the callbacks of a session come one at a time anyway.
    /// Nothing is called here if ``URLSessionConfiguration/callsBackOnNetworkThread`` says so.
    public let delegateQueue: OperationQueue

    let world: World
    let settings: SessionSettings
    let headers: HeaderDefaults
    let core: LoopBound<SessionCore>
    /// Who looks on, if anybody does.
    private let events: EventDesk?
    private let callbacks: any CallbackExecutor
    private let ownConfiguration: URLSessionConfiguration
    let state: Lock<State>
    /// As the loop knows it, and a moment earlier.
    private let missing = Lock(OptionalMethods())
    /// Whether the delegate hears of resumed and suspended tasks.
    let tellsTaskStates: Bool

    /// Makes a session without a delegate, with a serial queue of its own for
    /// completion handlers.
    public convenience init(configuration: URLSessionConfiguration) {
        self.init(configuration: configuration, delegate: nil, delegateQueue: nil)
    }

    /// Makes a session.
    ///
    /// - Parameters:
    ///   - configuration: Copied; later changes to it have no effect.
    ///   - delegate: Held strongly until the session has become invalid.
    ///   - queue: Where to call back. Nil makes a serial queue. In a program whose
    ///     main thread is blocked nothing arrives on the main queue.
    public convenience init(
        configuration: URLSessionConfiguration,
        delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?
    ) {
        self.init(configuration: configuration, delegate: delegate, delegateQueue: queue, world: .system)
    }

    /// A session in a world of its own.
    package init(
        configuration: URLSessionConfiguration,
        delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?,
        world: World,
        asksRegisteredClasses: Bool = false
    ) {
        let settings = configuration.settings
        self.world = world
        self.settings = settings
        headers = HeaderDefaults(additionalHeaders: settings.additionalHeaders, decodes: settings.content.decodes)
        let own = queue == nil ? DispatchQueue(label: "AFURLSession.delegate") : nil
        delegateQueue = queue ?? .serial(on: own)
        let inPlace = queue == nil && settings.callsBackOnNetworkThread ? LoopExecutor() : nil
        callbacks =
            world.callbackExecutor ?? inPlace
            ?? OperationQueueExecutor(delegateQueue, shortcut: own, for: world.loop)
        ownConfiguration = URLSessionConfiguration(settings)
        state = Lock(State(tls: settings.tls, delegate: delegate))
        tellsTaskStates = delegate is any URLSessionTaskStateDelegate
        let events = EventDesk(settings.seeing.monitors, in: world)
        self.events = events
        core = LoopBound(
            SessionCore(
                world: world,
                settings: settings,
                headers: headers,
                delegate: delegate,
                callbacks: callbacks,
                asksRegisteredClasses: asksRegisteredClasses,
                events: events
            ),
            on: world.loop
        )
        super.init()
    }

    deinit {
        world.enqueue { [core] in core.value.abandon() }
    }

    /// A copy of the configuration the session was made with.
    public var configuration: URLSessionConfiguration { ownConfiguration.copied() }

    /// The delegate, until the session has become invalid.
    public var delegate: (any URLSessionDelegate)? { state.withLock { $0.delegate } }

    /// Whatever you want to call the session.
    public var sessionDescription: String? {
        get { state.withLock { $0.description } }
        set { state.withLock { $0.description = newValue } }
    }

    /// How connections are secured.
    ///
    /// May be changed at any time. A change meets every request that is not under way
    /// yet; connections made before it serve no further request.
    public var tls: TLSConfiguration {
        get { state.withLock { $0.tls } }
        set {
            // What the old value held may run code when it goes: not under the lock.
            var configuration = newValue
            state.withLock { swap(&$0.tls, &configuration) }
            // The job reads it again: two threads that set it leave the loop with the same.
            world.enqueue { [self] in core.value.replaceTLS(tls) }
        }
    }

    /// Called by the standard implementation of a delegate's method: `delegate` has no other.
    func noteMissing(_ method: OptionalMethod, in delegate: AnyObject) {
        // The child of a fork has no loop, and may not touch the lock of its inbox.
        guard world.unavailability() == nil else { return }
        let type: AnyClass = type(of: delegate)
        guard missing.withLock({ $0.noteMissing(method, in: type) }) else { return }
        world.enqueue { [core] in core.value.noteMissing(method, in: type) }
    }

    /// Whether the delegate is known to have no method of its own for this, or none that it wants to be called. For the
    /// delegate queue; the loop asks its own side of the session.
    func isMissing(_ method: OptionalMethod, in delegate: AnyObject) -> Bool {
        if missing.withLock({ $0.isMissing(method, in: delegate) }) { return true }
        return state.withLock {
            $0.delegate === delegate && !$0.ignoredDelegateMethods.isDisjoint(with: method.method)
        }
    }

    func forgetDelegate() {
        state.withLock { $0.delegate = nil }
    }

    // MARK: - Making tasks

    func makeDataTask(
        _ request: URLRequest,
        isAwaited: Bool = false,
        _ completion: DataCompletion? = nil
    ) -> URLSessionDataTask {
        make { URLSessionDataTask(request, $0, in: self, isAwaited: isAwaited, completion) }
    }

    func makeUploadTask(
        _ request: URLRequest,
        _ body: TaskBody,
        isAwaited: Bool = false,
        _ completion: DataCompletion? = nil
    ) -> URLSessionUploadTask {
        make { URLSessionUploadTask(request, $0, in: self, body: body, isAwaited: isAwaited, completion) }
    }

    /// Makes a task with the next number, and holds it until it runs.
    func make<Task: URLSessionTask>(_ body: (_ identifier: Int) -> Task) -> Task {
        let identifier = state.withLock { state in
            defer { state.nextTaskIdentifier += 1 }
            return state.nextTaskIdentifier
        }
        let task = body(identifier)
        events?.created(task)
        state.withLock { state in
            guard !state.isInvalidated else { return }
            let place = state.made.add(task)
            // Before others find the task here, cancel it, and look for its place.
            task.snapshot.withLock { $0.madePlace = place }
        }
        return task
    }

    /// The task runs without having been resumed.
    func forgetMade(_ task: URLSessionTask) {
        let place = task.snapshot.withLock { snapshot in
            defer { snapshot.madePlace = nil }
            return snapshot.madePlace
        }
        if let place { forgetMade(at: place) }
    }

    /// The loop knows the task now, or never will.
    func forgetMade(at place: Int32) {
        _ = state.withLock { $0.made.remove(at: place) }
    }

    /// Tasks that the loop does not know yet.
    var madeTasks: [URLSessionTask] { state.withLock { $0.made.tasks } }
}

// MARK: - Data tasks

extension URLSession {
    /// A task whose response goes to the session's delegate.
    public func dataTask(with request: URLRequest) -> URLSessionDataTask {
        makeDataTask(request)
    }

    /// A task whose response goes to the session's delegate.
    public func dataTask(with url: URL) -> URLSessionDataTask {
        makeDataTask(URLRequest(url: url))
    }

    /// A task that hands its whole response to `completionHandler`.
    ///
    /// - Parameters:
    ///   - request: What to load.
    ///   - completionHandler: Called once, on the delegate queue: with data and
    ///     response, or with an error, and then with the response too if its head had
    ///     arrived. An HTTP error status is not an error.
    @preconcurrency
    public func dataTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        makeDataTask(request, completionHandler)
    }

    /// A task that hands its whole response to `completionHandler`.
    @preconcurrency
    public func dataTask(
        with url: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        makeDataTask(URLRequest(url: url), completionHandler)
    }
}

// MARK: - The tasks there are

extension URLSession {
    /// Finds all tasks that have not completed, in the order in which they were made.
    ///
    /// - Parameter completionHandler: Called on a queue of the session's own, never on
    ///   the delegate queue: somebody who blocks that until the answer comes gets it.
    @preconcurrency
    public func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
        let made = madeTasks
        world.enqueue { [core] in
            let running = core.value.running
            let known = Set(running.map(\.taskIdentifier))
            let waiting = made.filter { $0.state != .completed && !known.contains($0.taskIdentifier) }
            let all = (running + waiting).sorted { $0.taskIdentifier < $1.taskIdentifier }
            core.value.answers.post(.block { completionHandler(all) })
        }
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
    /// Takes no new tasks and lets running ones finish, also those that are suspended. Then
    /// the delegate hears `didBecomeInvalid`, as the very last thing, and is released.
    ///
    /// Tasks that were never resumed are cancelled: Apple's loader waits for them, for ever
    /// if they are never resumed. A task resumed from now on fails at once, with an error
    /// that says so. Has no effect on ``shared``.
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

    /// Forgets everything: the cookies, cached responses and credentials of the
    /// configured stores, who else uses them or not, what is on disk included; the
    /// credentials that were accepted, and TLS sessions. Closes idle connections, lets
    /// those in use end with their exchange, and calls back on the delegate queue once
    /// the disk has followed.
    ///
    /// Requests resumed after that use new connections. What the configuration itself
    /// names stays: a netrc file, an ``HSTSStore``, proxies.
    @preconcurrency
    public func reset(completionHandler: @escaping @Sendable () -> Void) {
        world.enqueue { [core] in core.value.reset(completionHandler) }
    }

    /// Writes cookies and cached responses to where they are kept, and closes
    /// connections as ``reset(completionHandler:)`` does. Forgets nothing.
    @preconcurrency
    public func flush(completionHandler: @escaping @Sendable () -> Void) {
        world.enqueue { [core] in core.value.flush(completionHandler) }
    }
}

extension OperationQueue {
    fileprivate static func serial(on underlying: DispatchQueue?) -> OperationQueue {
        let queue = OperationQueue()
        queue.name = underlying?.label
        queue.underlyingQueue = underlying
        queue.maxConcurrentOperationCount = 1
        return queue
    }
}
