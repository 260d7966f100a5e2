import AFBase
import AFLoop
import AFTransport
import Foundation

/// The inside of a connection: the events of the network thread that the delegate has not heard yet, and the delegate.
///
/// ```
/// network thread               │ where the connection is scheduled
/// ConnectionDelegateProxy ──▶ events ────┼──▶ deliver ──▶ delegate
///      ▲  task of the hidden   │       │
///      │  session              │       │ the first event is the question what to send
///      └───────────────────────┼───────┘
/// ```
final class ConnectionCore: Sendable {
    /// How many bytes may wait for the delegate before the task is suspended.
    static let highWater = 256 << 10

    private enum Stage {
        case idle
        /// Started; the delegate has not answered yet which request to send.
        case asking
        case loading
        case over
    }

    private struct State {
        var stage = Stage.idle
        var listener: ConnectionListener?
        /// Set from start to end: keeps the connection alive, which keeps this core.
        var connection: URLConnection?
        var task: URLSessionTask?
        var lastRequest: URLRequest?
        /// The events; the delegate has heard those before `next`.
        var events: [ConnectionEvent] = []
        var next = 0
        var waitingBytes = 0
        /// Nil for the standard configuration.
        var tls: TLSConfiguration?
        var scheduler: (any DeliveryScheduler)?
        var schedule = 0
        /// Whether a delivery is on its way, or the present one will look again.
        var isAnnounced = false
        var isDelivering = false
        /// Whether the core has suspended the task. Changed on the loop only.
        var isTaskHeldUp = false

        var hasEvents: Bool { next < events.count }

        mutating func takeEvent() -> ConnectionEvent? {
            guard hasEvents else { return nil }
            defer {
                next += 1
                if next == events.count {
                    events.removeAll(keepingCapacity: true)
                    next = 0
                }
            }
            // Taken out of the list, where its content would stay alive.
            var event = ConnectionEvent.begins
            swap(&event, &events[next])
            waitingBytes -= event.byteCount
            return event
        }

        /// Ends the connection, and returns everything whose `deinit` may run code: release it outside the lock.
        mutating func end() -> State {
            let former = self
            self = State(stage: .over, lastRequest: former.lastRequest)
            return former
        }
    }

    let originalRequest: URLRequest
    private let sessions: ConnectionSessions
    private let state: Lock<State>

    init(request: URLRequest, delegate: (any URLConnectionDelegate)?, in sessions: ConnectionSessions) {
        originalRequest = request
        self.sessions = sessions
        state = Lock(State(listener: delegate.map(ConnectionListener.init)))
    }

    deinit {
        // A run loop would keep its timer.
        state.withLock { $0.scheduler }?.close()
    }

    var currentRequest: URLRequest {
        let (task, last) = state.withLock { ($0.task, $0.lastRequest) }
        return task?.currentRequest ?? last ?? originalRequest
    }

    /// The original request, as the delegate changed it before the connection sent anything.
    var firstRequest: URLRequest { state.withLock { $0.task }?.originalRequest ?? originalRequest }

    var tls: TLSConfiguration? {
        get { state.withLock { $0.tls } }
        set { state.set(\.tls, newValue) }
    }

    /// How many bytes the delegate has not heard of.
    var waitingBytes: Int { state.withLock { $0.waitingBytes } }

    // MARK: - Scheduling

    private func replaceScheduler(_ make: (_ schedule: Int) -> (any DeliveryScheduler)?) {
        let schedule = state.withLock { state in
            state.schedule += 1
            return state.schedule
        }
        let made = make(schedule)
        let (former, wakes) = state.withLock { state -> ((any DeliveryScheduler)?, Bool) in
            // Another thread has scheduled it since, or the connection is over.
            guard state.schedule == schedule, state.stage != .over else { return (made, false) }
            let former = state.scheduler
            state.scheduler = made
            state.isAnnounced = made != nil && state.hasEvents && !state.isDelivering
            return (former, state.isAnnounced)
        }
        former?.close()
        if wakes { made?.wake(self) }
    }

    private var runLoopScheduler: RunLoopScheduler? { state.withLock { $0.scheduler as? RunLoopScheduler } }

    func schedule(in runLoop: RunLoop, mode: RunLoop.Mode) {
        let former = runLoopScheduler.flatMap { $0.runLoop === runLoop ? $0.modes : nil } ?? []
        guard !former.contains(mode) else { return }
        replaceScheduler { RunLoopScheduler(runLoop: runLoop, modes: former + [mode], core: self, schedule: $0) }
    }

    func unschedule(from runLoop: RunLoop, mode: RunLoop.Mode) {
        guard let scheduler = runLoopScheduler, scheduler.runLoop === runLoop, scheduler.modes.contains(mode) else {
            return
        }
        let rest = scheduler.modes.filter { $0 != mode }
        replaceScheduler {
            rest.isEmpty ? nil : RunLoopScheduler(runLoop: runLoop, modes: rest, core: self, schedule: $0)
        }
    }

    func schedule(on queue: OperationQueue?) {
        if let queue { return replaceScheduler { QueueScheduler(queue: queue, schedule: $0) } }
        if state.withLock({ $0.scheduler is QueueScheduler }) { replaceScheduler { _ in nil } }
    }

    func schedule(onNetworkThreadIn modes: [RunLoop.Mode]) {
        let world = sessions.world
        replaceScheduler { NetworkScheduler(world: world, modes: LoopModes(modes), schedule: $0) }
    }

    private func scheduleHere() {
        guard state.withLock({ $0.scheduler == nil }) else { return }
        // The network thread runs no loop of Foundation's.
        if sessions.world.loop.isOnLoop { return schedule(onNetworkThreadIn: [.default]) }
        schedule(in: .current, mode: .default)
    }

    // MARK: - Running

    func start(_ connection: URLConnection) {
        guard state.withLock({ $0.stage == .idle }) else { return }
        scheduleHere()
        let isStarted = state.withLock { state in
            guard state.stage == .idle else { return false }
            state.stage = .asking
            state.connection = connection
            return true
        }
        if isStarted { post(.begins) }
    }

    func cancel() {
        let former = endOnce()
        former?.task?.cancel()
        former?.scheduler?.close()
    }

    /// Nil if it has ended before; else everything whose `deinit` may run code.
    private func endOnce() -> State? {
        state.withLock { state in
            guard state.stage != .over else { return nil }
            if let task = state.task { state.lastRequest = task.currentRequest }
            return state.end()
        }
    }

    // MARK: - From the network thread

    func post(_ event: ConnectionEvent) {
        let scheduler = state.withLock { state -> (any DeliveryScheduler)? in
            guard state.stage == .asking || state.stage == .loading else { return nil }
            state.events.append(event)
            state.waitingBytes += event.byteCount
            guard !state.isAnnounced, !state.isDelivering else { return nil }
            state.isAnnounced = state.scheduler != nil
            return state.scheduler
        }
        scheduler?.wake(self)
    }

    /// Suspends the task while too many bytes wait for the delegate, which makes the server wait, and resumes it after
    /// that. On the loop only, where no two of these calls can overtake each other.
    func adjustFlow() {
        let (task, holdsUp) = state.withLock { state -> (URLSessionTask?, Bool) in
            guard state.stage == .loading else { return (nil, false) }
            let holdsUp =
                state.waitingBytes >= (state.isTaskHeldUp ? ConnectionCore.highWater / 2 : ConnectionCore.highWater)
            guard holdsUp != state.isTaskHeldUp else { return (nil, false) }
            state.isTaskHeldUp = holdsUp
            return (state.task, holdsUp)
        }
        if holdsUp { task?.suspend() } else { task?.resume() }
    }

    /// Called by the default implementation of a delegate's method.
    ///
    /// - Returns: Whether that is the connection's delegate, which therefore lacks the method.
    @discardableResult
    func noteMissing(_ method: OptionalMethod, in delegate: any URLConnectionDelegate) -> Bool {
        let (task, own) = state.withLock { ($0.task, $0.listener?.delegate) }
        guard own === delegate, let task, let proxy = task.delegate else { return false }
        task.session.noteMissing(method, in: proxy)
        return true
    }

    // MARK: - Delivery

    /// Tells the delegate all waiting events, one after the other.
    func deliver(for schedule: Int) {
        let isOurs = state.withLock { state in
            guard state.schedule == schedule, !state.isDelivering else { return false }
            state.isDelivering = true
            state.isAnnounced = false
            return true
        }
        guard isOurs else { return }
        while let (event, listener, connection) = take(for: schedule) {
            tell(event, listener: listener, connection: connection)
        }
    }

    private func take(for schedule: Int) -> (ConnectionEvent, ConnectionListener?, URLConnection)? {
        let (taken, next) = state.withLock { state -> (Taken?, (any DeliveryScheduler)?) in
            guard state.schedule == schedule, let connection = state.connection, let event = state.takeEvent() else {
                state.isDelivering = false
                // The program has scheduled the connection elsewhere meanwhile: go on there.
                guard state.hasEvents, !state.isAnnounced else { return (nil, nil) }
                state.isAnnounced = state.scheduler != nil
                return (nil, state.scheduler)
            }
            return (
                Taken(event: event, listener: state.listener, connection: connection, isHeldUp: state.isTaskHeldUp), nil
            )
        }
        next?.wake(self)
        guard let taken else { return nil }
        if taken.isHeldUp { sessions.world.loop.enqueue { [self] in adjustFlow() } }
        return (taken.event, taken.listener, taken.connection)
    }

    private struct Taken {
        let event: ConnectionEvent
        let listener: ConnectionListener?
        let connection: URLConnection
        let isHeldUp: Bool
    }

    private func tell(_ event: ConnectionEvent, listener: ConnectionListener?, connection: URLConnection) {
        if case .begins = event { return begin(listener, connection: connection) }
        guard event.isLast else { return listener?.hear(event, of: connection) ?? () }
        end { listener?.hear(event, of: connection) }
    }

    /// Makes the last call after the connection has ended: a delegate that cancels in it cancels nothing.
    private func end(_ lastCall: () -> Void) {
        guard let former = endOnce() else { return }
        former.scheduler?.close()
        lastCall()
    }

    // MARK: - Beginning

    private func begin(_ listener: ConnectionListener?, connection: URLConnection) {
        let usesStorage = listener?.delegate.connectionShouldUseCredentialStorage(connection) ?? true
        let identity = listener?.delegate.connectionTrustIdentity(connection)
        let answer: URLRequest? =
            if let data = listener?.data {
                data.connection(connection, willSend: originalRequest, redirectResponse: nil)
            } else {
                originalRequest
            }
        guard let answer else {
            return end {
                let error = LoadError.cancelled.urlError(for: originalRequest.url)
                listener?.hear(.failed(error), of: connection)
            }
        }
        let session = sessions.session(usingCredentialStorage: usesStorage, securedBy: tls)
        load(answer, listener: listener, by: identity, in: session)
    }

    private func load(
        _ request: URLRequest,
        listener: ConnectionListener?,
        by identity: Data?,
        in session: URLSession
    ) {
        let judge = identity.map(TrustJudge.named) ?? .own(UniqueNumber.next())
        let proxy = ConnectionDelegateProxy.make(for: listener?.delegate, core: self, judge: judge)
        let task =
            listener?.download == nil ? session.dataTask(with: request) : proxy.downloadTask(request, in: session)
        task.delegate = proxy
        let isWanted = state.withLock { state in
            guard state.stage == .asking else { return false }
            state.stage = .loading
            state.task = task
            return true
        }
        if isWanted { return task.resume() }
        task.delegate = nil
        task.cancel()
    }
}
