import AFBase
import AFLoop
import AFTransport
import AFWire
import Dispatch
public import Foundation

// Not final, so the compiler cannot check it: every stored property is immutable or
// guarded by its own lock.
/// One request of a session, and its state, response and error.
///
/// A task is made suspended; ``resume()`` starts it. You may use all methods and properties from any thread, in any
/// order and in any state: a call that makes no sense any more does nothing. The session holds a task until it has
/// completed, also one that waits to be resumed; see ``URLSession``.
public class URLSessionTask: NSObject, NSCopying, ProgressReporting, @unchecked Sendable {
    /// What a task is doing.
    @nonexhaustive
    public enum State: Int, Sendable {
        /// You have resumed the task, and it has not ended.
        case running = 0
        /// You have not resumed the task yet, or have suspended it since.
        case suspended = 1
        /// You have called `cancel()`; the completion is on its way.
        case canceling = 2
        /// The task has ended, with or without an error.
        case completed = 3

        fileprivate init(_ phase: TaskState.Phase) {
            self =
                switch phase {
                case .running: .running
                case .suspended: .suspended
                case .canceling: .canceling
                case .completed: .completed
                }
        }
    }

    /// After every other task.
    public static let lowPriority: Float = 0.25
    /// In order of arrival.
    public static let defaultPriority: Float = 0.5
    /// Before every other task.
    public static let highPriority: Float = 0.75

    /// The state that callers may read while the loop is at work.
    struct Snapshot {
        var life = TaskState()
        var response: URLResponse?
        var error: (any Error)?
        var currentRequest: URLRequest
        var received: Int64 = 0
        var expectedToReceive = NSURLSessionTransferSizeUnknown
        var sent: Int64 = 0
        /// How many of these bytes the delegate has heard about.
        var reportedSent: Int64 = 0
        var expectedToSend: Int64 = 0
        var priority = URLSessionTask.defaultPriority
        /// Whether a callback that will report the sent bytes is on its way.
        var isSendingAnnounced = false
        // Declared here, these two fit into a gap, which keeps a task small.
        var keepsMetrics = false
        /// Whether the context of the caller was kept for the interceptors.
        var hasContext = false
        var description: String?
        var delegate: (any URLSessionTaskDelegate)?
        var progress: Progress?
        var metrics: URLSessionTaskMetrics?
        var plans = TaskPlans.none
        /// For the child of a fork, which has no loop to ask for it.
        var completion: DataCompletion?

        /// What the loop has to know when the task begins; nil if the task does not begin.
        mutating func takeOrder() -> Order? {
            guard life.state == .running || life.state == .canceling else { return nil }
            return Order(
                isCancelled: life.state == .canceling,
                hasRun: life.hasRun,
                priority: priority,
                delegate: delegate,
                date: plans.value.earliestBeginDate,
                keepsMetrics: keepsMetrics
            )
        }

        /// Completes the task. A finished task keeps neither its delegate nor its handler: either may own it.
        ///
        /// - Parameter isDelivered: Whether a callback will deliver the end. Until then a task that has succeeded is not
        ///   complete for its owner: see `delivered`.
        /// - Returns: Both, and what else it has held. Release them when you no longer hold the lock: their `deinit` may
        ///   use the task.
        mutating func complete(_ error: (any Error)?, isDelivered: Bool = false) -> Listeners {
            if !isDelivered || error != nil { life.complete() }
            self.error = error
            return Listeners(delegate: delegate.take(), completion: completion.take(), plans: takeHolders())
        }

        /// - Returns: The plans with what they hold for a task that has not ended; none if they hold nothing.
        private mutating func takeHolders() -> TaskPlans {
            guard case .own(var own) = plans, own.context != nil || own.sessionDelegate != nil else { return .none }
            let former = plans
            (own.context, own.sessionDelegate) = (nil, nil)
            plans = .own(own)
            return former
        }

        /// The context of the code that resumed the task, for its interceptors.
        mutating func takeContext() -> CallerContext? {
            guard case .own(var plans) = plans, let context = plans.context else { return nil }
            plans.context = nil
            self.plans.value = plans
            return context
        }
    }

    /// The delegate and the handler of the task.
    struct Listeners {
        let delegate: (any URLSessionTaskDelegate)?
        let completion: DataCompletion?
        let plans: TaskPlans
    }

    struct Order {
        let isCancelled: Bool
        let hasRun: Bool
        let priority: Float
        let delegate: (any URLSessionTaskDelegate)?
        let date: Date?
        let keepsMetrics: Bool
    }

    // MARK: Constants

    /// Unique within the session; the first task is number 1.
    public let taskIdentifier: Int

    /// The request the task was made with. Nil for a stream task that was made as one.
    public let originalRequest: URLRequest?

    /// The session that made the task.
    public let session: URLSession
    let snapshot: Lock<Snapshot>
    let load: LoopBound<Load>
    /// Whether interceptors see the request.
    private let isIntercepted: Bool
    /// Its place among the tasks of the session that have not run. Only under the lock of the session's state.
    @exclusivity(unchecked) final var madePlace: Int32?
    /// The source of the body.
    let body: TaskBody
    /// Takes the response for the task's owner. The session sets it before another thread has the task.
    @exclusivity(unchecked) package internal(set) final var receiver: (any TaskReceiver)?

    /// Freezes the request here, on the caller's thread: the network thread gets bytes that are ready to be sent.
    init(
        _ request: URLRequest,
        identifier: Int,
        in session: URLSession,
        body: TaskBody = .request,
        consumer: sending any TaskConsumer,
        completion: DataCompletion?
    ) {
        let request = session.marked(request)
        taskIdentifier = identifier
        originalRequest = request
        self.session = session
        self.body = body
        let frozen = OwnRequest { () throws(RequestRejection) in
            try body.freeze(request, with: session.headers, settings: session.settings)
        }
        isIntercepted = session.settings.interception.kept != nil || request.isIntercepted(frozen)
        snapshot = Lock(
            Snapshot(
                currentRequest: request,
                expectedToSend: body.expectedLength(frozen),
                completion: completion
            )
        )
        load = session.core.joined { [snapshot] session in
            Load(request: frozen, body: body, snapshot: snapshot, consumer: consumer, session: session)
        }
        super.init()
    }

    /// Makes a task without a request.
    init(
        streamTo address: Result<WireRequest, RequestRejection>,
        identifier: Int,
        in session: URLSession,
        consumer: sending any TaskConsumer
    ) {
        taskIdentifier = identifier
        originalRequest = nil
        isIntercepted = false
        self.session = session
        body = .request
        snapshot = Lock(Snapshot(currentRequest: .unknown, expectedToSend: NSURLSessionTransferSizeUnknown))
        load = session.core.joined { [snapshot] session in
            Load(request: OwnRequest(address), body: .request, snapshot: snapshot, consumer: consumer, session: session)
        }
        super.init()
    }

    /// Takes the place of another task, whose loop's side goes on for it.
    init(continuing other: URLSessionTask, identifier: Int) {
        taskIdentifier = identifier
        originalRequest = other.originalRequest
        isIntercepted = other.isIntercepted
        session = other.session
        body = other.body
        receiver = other.receiver
        snapshot = Lock(
            other.snapshot.withLock { snapshot in
                // The copy keeps what `complete` releases here until the lock is free.
                defer { _ = snapshot.complete(nil) }
                return snapshot
            }
        )
        load = other.load
        super.init()
        if let progress = snapshot.withLock({ $0.progress }) { obey(progress) }
    }

    private func obey(_ progress: Progress) {
        progress.cancellationHandler = { [weak self] in self?.cancel() }
        progress.suspends { [weak self] in self }
    }

    /// Returns the task itself, which has no copies.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// The kind of task, its number and its state. No URL: it may carry a secret.
    public override var description: String { "\(type(of: self))(\(taskIdentifier), \(state))" }
}

// MARK: - Running

extension URLSessionTask {
    /// Starts the task, or ends one suspension.
    ///
    /// Suspensions nest: a task runs once you have called `resume()` as often as ``suspend()``, and once more for the
    /// suspension it was made with.
    public func resume() {
        guard snapshot.withLock({ $0.life.resume() }) else { return }
        keepContext()
        stateDelegate?.urlSession(session, taskDidResume: self)
        reconcile()
    }

    /// Starts the task with the task-local values of other code than this.
    func resume(in context: CallerContext) {
        if isIntercepted {
            snapshot.withLock { snapshot in
                snapshot.hasContext = true
                snapshot.plans.value.context = context
            }
        }
        resume()
    }

    /// Keeps the task-local values of the caller for the interceptors, if there are some and the task has not begun.
    private func keepContext() {
        guard isIntercepted, state == .running else { return }
        let context = CallerContext(preferring: session.world.interceptorExecutor)
        snapshot.withLock { snapshot in
            guard !snapshot.hasContext else { return }
            snapshot.hasContext = true
            snapshot.plans.value.context = context
        }
    }

    /// Pauses the task: it reads nothing more, its server has to wait, and its timeouts stand still. Callbacks that are
    /// on their way may still come.
    public func suspend() {
        guard snapshot.withLock({ $0.life.suspend() }) else { return }
        stateDelegate?.urlSession(session, taskDidSuspend: self)
        reconcile()
    }

    /// Cancels the task. It completes once, with `URLError.cancelled`, also if you never resumed it.
    ///
    /// Safe from any thread and in any state; cancelling a finished task does nothing. A task is finished when its end
    /// has reached your delegate or handler, a download when its file is there. Callbacks already queued when this is
    /// called may still come first.
    public func cancel() {
        guard snapshot.withLock({ $0.life.cancel() }) else { return }
        reconcile()
    }

    /// For a session that ends, on its loop.
    ///
    /// - Returns: Whether the task waited to be resumed.
    func cancelIfSuspended() -> Bool { snapshot.withLock { $0.life.cancelIfSuspended() } }

    private var stateDelegate: (any URLSessionTaskStateDelegate)? {
        guard session.tellsTaskStates else { return nil }
        let (held, lent) = session.state.withLock { ($0.stateDelegate, $0.lent) }
        return held ?? lent?.states
    }

    /// Makes the loop's side do what the snapshot says. The jobs carry no orders: if two threads resume and suspend at
    /// once, the snapshot decides, and the job that runs last reads it.
    private func reconcile() {
        if let reason = session.world.unavailability() { return failHere(reason) }
        load.loop.enqueue { [self] in load.value.reconcile(self) }
    }

    /// Calls back on the calling thread: a child made by `fork` has no other.
    func failHere(_ reason: LoadError) {
        session.forgetMade(self)
        let error = reason.urlError(for: originalRequest?.url)
        let metrics = URLSessionTaskMetrics.withoutRequests()
        let keepsMetrics = keepsMetrics
        let (hasRun, listeners) = snapshot.withLock { snapshot in
            if keepsMetrics, snapshot.life.hasRun { snapshot.metrics = metrics }
            return (snapshot.life.hasRun, snapshot.complete(error))
        }
        let delegate = listeners.delegate ?? session.delegate as? any URLSessionTaskDelegate
        if hasRun { delegate?.urlSession(session, task: self, didFinishCollecting: metrics) }
        if let completion = listeners.completion { return completion(nil, nil, error) }
        if let delegate { return delegate.urlSession(session, task: self, didCompleteWithError: error) }
        receiver?.ended(self, body: Data(), error: error, on: .delegateQueue)
    }
}

extension URLSessionTask: DeliveredEnd {
    package func delivered() -> (any Error)? {
        snapshot.withLock { snapshot in
            if snapshot.life.state == .canceling {
                snapshot.error = LoadError.cancelled.urlError(for: snapshot.currentRequest.url)
            }
            snapshot.life.complete()
            return snapshot.error
        }
    }
}

// MARK: - State

extension URLSessionTask {
    /// What the task is doing.
    public var state: State { State(snapshot.withLock { $0.life.state }) }

    /// The present request: after redirects, the last one. Nil for a stream task that was made as one.
    public var currentRequest: URLRequest? {
        originalRequest == nil ? nil : snapshot.withLock { $0.currentRequest }
    }

    /// The response, from the moment its head has arrived.
    public var response: URLResponse? { snapshot.withLock { $0.response } }

    /// Why the task failed. An HTTP error status is not a failure.
    public var error: (any Error)? { snapshot.withLock { $0.error } }

    /// Body bytes received so far.
    public var countOfBytesReceived: Int64 { snapshot.withLock { $0.received } }

    /// Body bytes the response announced, or `NSURLSessionTransferSizeUnknown`.
    public var countOfBytesExpectedToReceive: Int64 { snapshot.withLock { $0.expectedToReceive } }

    /// Body bytes sent so far.
    public var countOfBytesSent: Int64 { snapshot.withLock { $0.sent } }

    /// Body bytes to send: 0 if there is no body, `NSURLSessionTransferSizeUnknown` as long as their number is unknown.
    public var countOfBytesExpectedToSend: Int64 { snapshot.withLock { $0.expectedToSend } }

    /// A name for the task, for your own use.
    public var taskDescription: String? {
        get { snapshot.withLock { $0.description } }
        set { snapshot.withLock { $0.description = newValue } }
    }

    /// From 0 to 1: tasks with a higher priority get a connection first when connections are scarce. You may change it
    /// at any time; values outside are clamped.
    public var priority: Float {
        get { snapshot.withLock { $0.priority } }
        set {
            let clamped = newValue.isNaN ? URLSessionTask.defaultPriority : min(max(newValue, 0), 1)
            snapshot.withLock { $0.priority = clamped }
            session.world.enqueue { [load] in load.value.priorityChanged(to: clamped) }
        }
    }

    /// Hears about this task in place of the session's delegate. If it does not have a method, the session calls that
    /// method of its own delegate. Set it before you resume the task: a task that has begun keeps the delegate it had
    /// then.
    ///
    /// Its answers about servers and identities hold for its own tasks only. If the session has asked this delegate
    /// about a connection, or may have, the connection serves only tasks with this very object as their delegate.
    /// Connections that other delegates were asked about do not serve this task. A delegate without a method for
    /// challenges shares connections with the session's other tasks. The session knows whether it has one once the
    /// first TLS handshake for a delegate of its class has ended. To share connections among tasks give them the same
    /// delegate.
    public var delegate: (any URLSessionTaskDelegate)? {
        get { snapshot.withLock { $0.delegate } }
        set {
            // Release the old one after the lock: its `deinit` may use the task.
            var delegate = newValue
            snapshot.withLock { swap(&$0.delegate, &delegate) }
        }
    }

    /// The progress of the response body. If you cancel, pause or resume it, so does the task.
    public var progress: Progress {
        let existing = snapshot.withLock { $0.progress }
        if let existing { return existing }
        let made = Progress(totalUnitCount: -1)
        obey(made)
        return snapshot.withLock { snapshot in
            if let winner = snapshot.progress { return winner }
            made.totalUnitCount = snapshot.expectedToReceive
            made.completedUnitCount = snapshot.received
            snapshot.progress = made
            return made
        }
    }
}

// Unchecked as its superclass.
/// A task that delivers its response body in memory: all at once to a completion handler, or piece by piece to the
/// delegate.
public class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}

// Unchecked as its superclass.
/// A task that sends a body from memory, a file or a stream. It delivers its response like a data task.
public final class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {}

/// Takes the response of one task for its owner, who made it: a session manager's record of the task.
///
/// A session that has a delegate calls that about the task, and the delegate finds the receiver in
/// ``URLSessionTask/receiver``. Two things go to the receiver itself:
///
/// - with ``URLSession/receiversTakeResponses``, the body in one piece and the end. The session does not call its
///   delegate with either. A task with a delegate of its own is an exception;
/// - the end of a task whose session has become invalid, and has no delegate any more, or that has a delegate of its own.
///
/// The session calls it on the delegate queue, unless a method says otherwise.
package protocol TaskReceiver: AnyObject, Sendable {
    /// The task has ended. The session calls this once, on the network thread, and then ``ended(_:_:_:on:)`` where this
    /// returns.
    ///
    /// - Parameter bodyLength: The length of the body, as far as it has arrived.
    func prepareEnd(bodyLength: Int) -> TaskEndPlace

    /// Whether ``advanced(_:)`` is called for each part of the body. Asked on the network thread.
    var isWatched: Bool { get }

    /// More of the response's body has arrived: `countOfBytesReceived` of the task says how much.
    func advanced(_ task: URLSessionTask)

    /// The task has ended.
    ///
    /// - Parameters:
    ///   - body: What has arrived of the body, unless the delegate has it.
    ///   - place: Where the session makes the call.
    func ended(_ task: URLSessionTask, body: Data, error: (any Error)?, on place: TaskEndPlace)
}

/// Where a session calls the receiver of a task that has ended.
package enum TaskEndPlace: Sendable {
    /// On the delegate queue, after all that the session has called there before. The session takes it in place of the
    /// others if something is left to do there.
    case delegateQueue
    /// On the main queue.
    case mainQueue
    /// On another queue.
    case queue(DispatchQueue)
    /// On the network thread, where the receiver runs none of the program's code.
    case networkThread
}

/// Hears at once when tasks of its session are resumed and suspended.
///
/// Works only as the delegate of a session. The session calls it on the thread that calls `resume()` or `suspend()`,
/// before that returns, and only if the call changes something.
@preconcurrency
public protocol URLSessionTaskStateDelegate: URLSessionDelegate {
    /// The task runs, for the first time or again.
    func urlSession(_ session: URLSession, taskDidResume task: URLSessionTask)

    /// The task ran, or was about to, and now waits.
    func urlSession(_ session: URLSession, taskDidSuspend task: URLSessionTask)
}

/// The plans that the owner of a task sets in advance. Most tasks have none, so they take the space of a reference.
enum TaskPlans: Sendable {
    case none
    indirect case own(Own)

    struct Own: Sendable {
        var earliestBeginDate: Date?
        var bytesToSend = NSURLSessionTransferSizeUnknown
        var bytesToReceive = NSURLSessionTransferSizeUnknown
        var prefersIncrementalDelivery = true
        /// What the interceptors are called in; taken when they are.
        var context: CallerContext?
        /// The session's delegate, if the session does not hold it; until the task ends.
        var sessionDelegate: (any URLSessionDelegate)?
    }

    var value: Own {
        get { if case .own(let plans) = self { plans } else { Own() } }
        set { self = .own(newValue) }
    }
}

extension URLSessionTask {
    /// The task loads nothing before this date. Nil, the default: it begins as soon as you resume it.
    ///
    /// Set it before you resume the task. When the date has come, the session asks the delegate with
    /// ``URLSessionTaskDelegate/urlSession(_:task:willBeginDelayedRequest:completionHandler:)``. The time until then
    /// counts towards no timeout. A task that is suspended when the date comes begins when you resume it.
    public var earliestBeginDate: Date? {
        get { snapshot.withLock { $0.plans.value.earliestBeginDate } }
        set { snapshot.withLock { $0.plans.value.earliestBeginDate = newValue } }
    }

    /// How many bytes you expect the task to send: for your own use, the session schedules nothing by it.
    public var countOfBytesClientExpectsToSend: Int64 {
        get { snapshot.withLock { $0.plans.value.bytesToSend } }
        set { snapshot.withLock { $0.plans.value.bytesToSend = newValue } }
    }

    /// How many bytes you expect the task to receive: for your own use, the session schedules nothing by it.
    public var countOfBytesClientExpectsToReceive: Int64 {
        get { snapshot.withLock { $0.plans.value.bytesToReceive } }
        set { snapshot.withLock { $0.plans.value.bytesToReceive = newValue } }
    }

    /// Whether you want parts of the response as they arrive. Kept, and **of no effect here**: a delegate gets each part,
    /// and a completion handler the whole. True by default.
    public var prefersIncrementalDelivery: Bool {
        get { snapshot.withLock { $0.plans.value.prefersIncrementalDelivery } }
        set { snapshot.withLock { $0.plans.value.prefersIncrementalDelivery = newValue } }
    }
}

extension URLRequest {
    /// Whether the request has interceptors of its own.
    fileprivate func isIntercepted(_ own: OwnRequest) -> Bool {
        own.frozen?.terms.answer.hasInterceptors ?? contents.interception.hasInterceptors
    }
}
