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
///
/// A connection that is scheduled on the network thread has its delegate called there and then: no event waits.
final class ConnectionCore: Sendable {
    /// How many bytes may wait for the delegate before the task is suspended.
    static let highWater = 256 << 10

    private enum Stage {
        case idle
        /// Started; the delegate has not been asked yet which request to send.
        case starting
        /// It has not answered yet.
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
        /// The events that wait for the delegate, which has heard those before `next`.
        var events: [ConnectionEvent] = []
        var next = 0
        var waitingBytes = 0
        /// Nil for the standard configuration.
        var tls: HeldTLSConfiguration?
        var place: DeliveryPlace?
        /// The number of the present place, and the latest one that was given.
        var schedule = 0
        var latestSchedule = 0
        /// Whether a delivery is on its way, or the present one will look again.
        var isAnnounced = false
        var isDelivering = false
        /// Whether the core has suspended the task. Changed on the loop only.
        var isTaskHeldUp = false
        /// Splits a body that stands for several responses. Used on the loop only.
        var parts: MixedReplaceReader?
        var hasRefusedChallenge = false

        var hasEvents: Bool { stage == .starting || next < events.count }

        mutating func takeEvent() -> ConnectionEvent? {
            if stage == .starting {
                stage = .asking
                return .begins
            }
            guard next < events.count else { return nil }
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

        /// Where to wake the connection; nil if nothing waits, or a delivery is on its way.
        mutating func announce() -> Wake? {
            guard hasEvents, !isAnnounced, !isDelivering, let place else { return nil }
            isAnnounced = true
            return Wake(place: place, schedule: schedule)
        }

        func taken(_ event: ConnectionEvent, connection: URLConnection) -> Taken {
            Taken(event: event, listener: listener, connection: connection, schedule: schedule, isHeldUp: isTaskHeldUp)
        }

        /// Ends the connection, and returns everything whose `deinit` may run code: release it outside the lock.
        mutating func end() -> State {
            var former = State(stage: .over, lastRequest: task?.currentRequest ?? lastRequest)
            swap(&self, &former)
            return former
        }
    }

    private struct Wake {
        let place: DeliveryPlace
        let schedule: Int
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
        state.withLock { $0.place }?.close()
    }

    var decidesOnCaching: Bool { state.withLock { $0.listener }?.decidesOnCaching ?? true }

    var currentRequest: URLRequest {
        let (task, last) = state.withLock { ($0.task, $0.lastRequest) }
        return task?.currentRequest ?? last ?? originalRequest
    }

    /// The original request, as the delegate changed it before the connection sent anything.
    var firstRequest: URLRequest { state.withLock { $0.task }?.originalRequest ?? originalRequest }

    var tls: TLSConfiguration? {
        get { state.withLock { $0.tls }?.configuration }
        set { state.set(\.tls, newValue.map(HeldTLSConfiguration.init)) }
    }

    /// How many bytes the delegate has not heard of.
    var waitingBytes: Int { state.withLock { $0.waitingBytes } }

    // MARK: - Scheduling

    private func replacePlace(_ make: (_ schedule: Int) -> DeliveryPlace?) {
        let schedule = state.withLock { state in
            state.latestSchedule += 1
            return state.latestSchedule
        }
        let made = make(schedule)
        let (former, wake) = state.withLock { state -> (DeliveryPlace?, Wake?) in
            // Another thread has scheduled it since, or the connection is over.
            guard state.latestSchedule == schedule, state.stage != .over else { return (made, nil) }
            let former = state.place
            (state.place, state.schedule, state.isAnnounced) = (made, schedule, false)
            return (former, state.announce())
        }
        former?.close()
        self.wake(wake)
    }

    private func wake(_ wake: Wake?) {
        if let wake { wake.place.wake(self, for: wake.schedule, in: sessions.world) }
    }

    private var runLoopScheduler: RunLoopScheduler? {
        if case .runLoop(let scheduler)? = state.withLock({ $0.place }) { scheduler } else { nil }
    }

    func schedule(in runLoop: RunLoop, mode: RunLoop.Mode) {
        let former = runLoopScheduler.flatMap { $0.runLoop === runLoop ? $0.modes : nil } ?? []
        guard !former.contains(mode) else { return }
        replacePlace { .runLoop(RunLoopScheduler(runLoop: runLoop, modes: former + [mode], core: self, schedule: $0)) }
    }

    func unschedule(from runLoop: RunLoop, mode: RunLoop.Mode) {
        guard let scheduler = runLoopScheduler, scheduler.runLoop === runLoop, scheduler.modes.contains(mode) else {
            return
        }
        let rest = scheduler.modes.filter { $0 != mode }
        replacePlace {
            rest.isEmpty ? nil : .runLoop(RunLoopScheduler(runLoop: runLoop, modes: rest, core: self, schedule: $0))
        }
    }

    func schedule(on queue: OperationQueue?) {
        if let queue { return replacePlace { _ in .queue(queue) } }
        if case .queue? = state.withLock({ $0.place }) { replacePlace { _ in nil } }
    }

    func schedule(onNetworkThreadIn modes: [RunLoop.Mode]) {
        let modes = LoopModes(modes)
        replacePlace { _ in .networkThread(modes) }
    }

    private func scheduleHere() {
        // The network thread runs no loop of Foundation's.
        if sessions.world.loop.isOnLoop { return schedule(onNetworkThreadIn: [.default]) }
        schedule(in: .current, mode: .default)
    }

    // MARK: - Running

    func start(_ connection: URLConnection, asksAtOnce: Bool = false) {
        let (isIdle, needsPlace) = state.withLock { ($0.stage == .idle, $0.place == nil) }
        guard isIdle else { return }
        if needsPlace { scheduleHere() }
        let wake = state.withLock { state -> Wake? in
            guard state.stage == .idle else { return nil }
            state.stage = .starting
            state.connection = connection
            return state.announce()
        }
        if asksAtOnce, let wake, wake.place.isHere(in: sessions.world) { return deliver(for: wake.schedule) }
        self.wake(wake)
    }

    func cancel() {
        let former = endOnce()
        former?.task?.cancel()
        former?.place?.close()
    }

    /// Nil if it has ended before; else everything whose `deinit` may run code.
    private func endOnce() -> State? {
        state.withLock { $0.stage == .over ? nil : $0.end() }
    }

    // MARK: - From the network thread

    func receive(_ response: URLResponse) {
        if let parts = MixedReplaceReader(response) { state.withLock { $0.parts = parts } }
        post(.response(response))
    }

    func receive(_ data: Data, of task: URLSessionTask) {
        guard let parts = state.withLock({ $0.parts }) else { return post(.data(data)) }
        for event in parts.receive(data) {
            post(event)
            if event.isLast { task.cancel() }
        }
    }

    func receiveEnd(_ error: (any Error)?) {
        if let error { return post(.failed(told(error))) }
        if let rest = state.withLock({ $0.parts })?.finish() { post(.data(rest)) }
        post(.finished)
    }

    /// The delegate cancels a challenge.
    func noteRefusal() { state.withLock { $0.hasRefusedChallenge = true } }

    /// A session reports `cancelled` for a task whose challenge was cancelled; a connection reports that challenge.
    private func told(_ error: any Error) -> any Error {
        guard let cancelled = error as? URLError, cancelled.code == .cancelled,
            state.withLock({ $0.hasRefusedChallenge })
        else { return error }
        return URLError(reporting: .userCancelledAuthentication, details: cancelled.userInfo)
    }

    /// Tells the delegate at once if it is called here, where the session makes its own calls: at the end of a turn, when
    /// no code of the program runs but what has made the loop run again.
    func post(_ event: ConnectionEvent) {
        let world = sessions.world
        let (now, wake) = state.withLock { state -> (Taken?, Wake?) in
            guard state.stage == .loading, let connection = state.connection else { return (nil, nil) }
            if !state.hasEvents, !state.isAnnounced, !state.isDelivering, state.place?.isHere(in: world) == true {
                state.isDelivering = true
                return (state.taken(event, connection: connection), nil)
            }
            state.events.append(event)
            state.waitingBytes += event.byteCount
            return (nil, state.announce())
        }
        if let now {
            tellAll(from: now)
        } else {
            self.wake(wake)
            adjustFlow()
        }
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
        if isOurs, let first = take(for: schedule) { tellAll(from: first) }
    }

    private func tellAll(from first: Taken) {
        tell(first)
        while let next = take(for: first.schedule) { tell(next) }
    }

    /// The next event; nil if there is none, or it is to be told elsewhere.
    private func take(for schedule: Int) -> Taken? {
        let (taken, wake) = state.withLock { state -> (Taken?, Wake?) in
            guard state.schedule == schedule, let connection = state.connection, let event = state.takeEvent() else {
                state.isDelivering = false
                // The program has scheduled the connection elsewhere meanwhile: go on there.
                return (nil, state.announce())
            }
            return (state.taken(event, connection: connection), nil)
        }
        self.wake(wake)
        if taken?.isHeldUp == true { sessions.world.loop.enqueue { [self] in adjustFlow() } }
        return taken
    }

    private struct Taken {
        let event: ConnectionEvent
        let listener: ConnectionListener?
        let connection: URLConnection
        let schedule: Int
        let isHeldUp: Bool

        func hear() { listener?.hear(event, of: connection) }
    }

    private func tell(_ taken: Taken) {
        if case .begins = taken.event { return begin(taken.listener, connection: taken.connection) }
        guard taken.event.isLast else { return taken.hear() }
        end { taken.hear() }
    }

    /// Makes the last call after the connection has ended: a delegate that cancels in it cancels nothing.
    private func end(_ lastCall: () -> Void) {
        guard let former = endOnce() else { return }
        former.place?.close()
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
