import AFBase
import AFLoop
import AFTransport
import AFWire
public import Foundation

/// The number of bytes is not known.
public let NSURLSessionTransferSizeUnknown: Int64 = -1

// Not final, so the compiler cannot check it: every stored property is immutable or
// guarded by its own lock.
/// One request of a session, and what has become of it.
///
/// A task is made suspended; ``resume()`` starts it. All methods and properties may
/// be used from any thread, in any order and in any state: what makes no sense any
/// more does nothing. The session holds a task until that has completed, also one that
/// waits to be resumed; see ``URLSession``.
public class URLSessionTask: NSObject, NSCopying, ProgressReporting, @unchecked Sendable {
    /// What a task is doing.
    public enum State: Int, Sendable {
        /// It was resumed and has not ended.
        case running = 0
        /// It was not resumed yet, or was suspended since.
        case suspended = 1
        /// `cancel()` was called; the completion is on its way.
        case canceling = 2
        /// It has ended, well or not.
        case completed = 3
    }

    /// Behind every other task.
    public static let lowPriority: Float = 0.25
    /// In order of arrival.
    public static let defaultPriority: Float = 0.5
    /// Before every other task.
    public static let highPriority: Float = 0.75

    /// What a caller may read while the loop is at work.
    struct Snapshot {
        var life = TaskState()
        var response: URLResponse?
        var error: (any Error)?
        var currentRequest: URLRequest
        var received: Int64 = 0
        var expectedToReceive = NSURLSessionTransferSizeUnknown
        var sent: Int64 = 0
        /// What of it the delegate has heard about.
        var reportedSent: Int64 = 0
        var expectedToSend: Int64 = 0
        var priority = URLSessionTask.defaultPriority
        /// A callback that will report what was sent is on its way.
        var isSendingAnnounced = false
        // These two fit into the gap here: a task is small.
        var keepsMetrics = false
        /// Where the session keeps the task until it runs.
        var madePlace: Int32?
        var description: String?
        var delegate: (any URLSessionTaskDelegate)?
        var progress: Progress?
        var metrics: URLSessionTaskMetrics?
        var plans = TaskPlans.none
        /// For the child of a fork, where the loop cannot be asked for it.
        var completion: DataCompletion?

        /// What the loop has to know when the task begins; nil if it does not.
        mutating func takeOrder() -> Order? {
            guard life.state == .running || life.state == .canceling else { return nil }
            defer { madePlace = nil }
            return Order(
                isCancelled: life.state == .canceling,
                hasRun: life.hasRun,
                priority: priority,
                delegate: delegate,
                date: plans.value.earliestBeginDate,
                keepsMetrics: keepsMetrics,
                madePlace: madePlace
            )
        }

        /// A finished task keeps neither its delegate nor its handler: either may own it.
        ///
        /// - Returns: Both, to be let go of when the lock is not held any more: their `deinit` may use the task.
        mutating func complete(_ error: (any Error)?) -> Listeners {
            life.complete()
            self.error = error
            defer {
                delegate = nil
                completion = nil
            }
            return Listeners(delegate: delegate, completion: completion)
        }
    }

    /// Who was to hear about the task.
    struct Listeners {
        let delegate: (any URLSessionTaskDelegate)?
        let completion: DataCompletion?
    }

    struct Order {
        let isCancelled: Bool
        let hasRun: Bool
        let priority: Float
        let delegate: (any URLSessionTaskDelegate)?
        let date: Date?
        let keepsMetrics: Bool
        let madePlace: Int32?
    }

    // MARK: Constants

    /// Unique within the session; the first task is number 1.
    public let taskIdentifier: Int

    /// The request the task was made with. Nil for a stream task that was made as one.
    public let originalRequest: URLRequest?

    /// The session that made the task.
    public let session: URLSession
    let snapshot: Lock<Snapshot>
    let core: LoopBound<TaskCore>
    /// Where the body comes from.
    let body: TaskBody

    /// The request is frozen here, on the caller's thread: the network thread gets
    /// bytes that are ready to be sent.
    init(
        _ request: URLRequest,
        _ identifier: Int,
        in session: URLSession,
        body: TaskBody = .request,
        isAwaited: Bool = false,
        consumer own: sending (any TaskConsumer)? = nil,
        _ completion: DataCompletion?
    ) {
        let request = session.marked(request)
        taskIdentifier = identifier
        originalRequest = request
        self.session = session
        self.body = body
        let frozen = Result { () throws(RequestRejection) in
            try body.freeze(request, in: session)
        }
        snapshot = Lock(
            Snapshot(
                currentRequest: request,
                expectedToSend: body.expectedLength(frozen),
                completion: completion
            )
        )
        let consumer: any TaskConsumer =
            if let own {
                own
            } else if let completion {
                CompletionConsumer(isAwaited: isAwaited, completion)
            } else {
                DelegateConsumer()
            }
        core = session.core.joined { [snapshot] session in
            TaskCore(frozen, body: body, snapshot: snapshot, consumer: consumer, session: session)
        }
        super.init()
    }

    /// A task without a request.
    init(
        streamTo address: Result<WireRequest, RequestRejection>,
        _ identifier: Int,
        in session: URLSession,
        consumer: sending any TaskConsumer
    ) {
        taskIdentifier = identifier
        originalRequest = nil
        self.session = session
        body = .request
        snapshot = Lock(Snapshot(currentRequest: .unknown, expectedToSend: NSURLSessionTransferSizeUnknown))
        core = session.core.joined { [snapshot] session in
            TaskCore(address, body: .request, snapshot: snapshot, consumer: consumer, session: session)
        }
        super.init()
    }

    /// Takes the place of another task, whose loop's side goes on for it.
    init(continuing other: URLSessionTask, _ identifier: Int) {
        taskIdentifier = identifier
        originalRequest = other.originalRequest
        session = other.session
        body = other.body
        snapshot = Lock(
            other.snapshot.withLock { snapshot in
                // The copy has what is let go of here.
                defer { _ = snapshot.complete(nil) }
                return snapshot
            }
        )
        core = other.core
        super.init()
        if let progress = snapshot.withLock({ $0.progress }) { obey(progress) }
    }

    private func obey(_ progress: Progress) {
        progress.cancellationHandler = { [weak self] in self?.cancel() }
        progress.pausingHandler = { [weak self] in self?.suspend() }
        progress.resumingHandler = { [weak self] in self?.resume() }
    }

    /// Returns the task itself: there is one of each.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// The kind of task, its number and its state. No URL: it may carry a secret.
    public override var description: String { "\(type(of: self))(\(taskIdentifier), \(state))" }
}

// MARK: - Running it

extension URLSessionTask {
    /// Starts the task, or ends one suspension.
    ///
    /// Suspensions nest: a task runs once `resume()` was called as often as
    /// ``suspend()``, and once more for the suspension it was born with.
    public func resume() {
        guard snapshot.withLock({ $0.life.resume() }) else { return }
        stateDelegate?.urlSession(session, taskDidResume: self)
        reconcile()
    }

    /// Pauses the task: it reads nothing more, its peer is held up, and its timeouts
    /// stand still. Callbacks already on their way may still come.
    public func suspend() {
        guard snapshot.withLock({ $0.life.suspend() }) else { return }
        stateDelegate?.urlSession(session, taskDidSuspend: self)
        reconcile()
    }

    /// Cancels the task. It completes once, with `URLError.cancelled`, also if it was
    /// never resumed.
    ///
    /// Safe from any thread and in any state; cancelling a finished task does
    /// nothing. Callbacks already queued when this is called may still come first.
    public func cancel() {
        guard snapshot.withLock({ $0.life.cancel() }) else { return }
        reconcile()
    }

    /// For a session that ends, on its loop.
    ///
    /// - Returns: Whether the task waited to be resumed.
    func cancelIfSuspended() -> Bool { snapshot.withLock { $0.life.cancelIfSuspended() } }

    private var stateDelegate: (any URLSessionTaskStateDelegate)? {
        session.tellsTaskStates ? session.delegate as? any URLSessionTaskStateDelegate : nil
    }

    /// Brings the loop's side to what the snapshot says. Jobs carry no order of their
    /// own: two threads that resume and suspend at once agree on the snapshot, and
    /// whichever job runs last sees it.
    private func reconcile() {
        if let reason = session.world.unavailability() { return failHere(reason) }
        core.loop.enqueue { [self] in core.value.reconcile(self) }
    }

    /// Calls back on the calling thread. A child made by `fork` has no other.
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
        delegate?.urlSession(session, task: self, didCompleteWithError: error)
    }
}

// MARK: - Looking at it

extension URLSessionTask {
    /// What the task is doing.
    public var state: State { snapshot.withLock { $0.life.state } }

    /// The request being made. Nil for a stream task that was made as one.
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

    /// Body bytes to send: 0 if there is no body, `NSURLSessionTransferSizeUnknown` as long
    /// as nobody knows.
    public var countOfBytesExpectedToSend: Int64 { snapshot.withLock { $0.expectedToSend } }

    /// Whatever you want to call the task. Not used by the session.
    public var taskDescription: String? {
        get { snapshot.withLock { $0.description } }
        set { snapshot.withLock { $0.description = newValue } }
    }

    /// From 0 to 1: who is served first when connections are scarce. May be changed
    /// at any time; values outside are clamped.
    public var priority: Float {
        get { snapshot.withLock { $0.priority } }
        set {
            let clamped = newValue.isNaN ? URLSessionTask.defaultPriority : min(max(newValue, 0), 1)
            snapshot.withLock { $0.priority = clamped }
            session.world.enqueue { [core] in core.value.priorityChanged(to: clamped) }
        }
    }

    /// Hears about this task in place of the session's delegate. Where it has no method for something, that method of the
    /// session's delegate is called. Set it before the task is resumed: a task that has begun keeps the one it had then.
    ///
    /// Its answers about servers and identities are its own. A connection that it was, or may have been, asked about
    /// serves tasks with this very object as their delegate, and no others; and none that others were asked about
    /// serves this task. A delegate without a method for challenges shares connections with the session's other tasks.
    /// Whether it has one is known once the first connection for a delegate of its class has been secured. To share
    /// connections among tasks give them the same delegate.
    public var delegate: (any URLSessionTaskDelegate)? {
        get { snapshot.withLock { $0.delegate } }
        set {
            // The old one may go away with this, and its deinit may use the task: not under the lock.
            var delegate = newValue
            snapshot.withLock { swap(&$0.delegate, &delegate) }
        }
    }

    /// Progress of the response body. Cancelling, pausing and resuming it does the
    /// same to the task.
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
/// A task whose response body is delivered in memory: all at once to a completion
/// handler, or piece by piece to the delegate.
public class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}
