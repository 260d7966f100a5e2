import AFLoop
import AFTransport

/// The wait of one task for a network. Confined to the loop.
final class ConnectivityWait: ChangeMonitorClient, TimerTarget, StopsWithLoad {
    private static let first = Duration.seconds(1)
    private static let longest = Duration.seconds(60)

    private let world: World
    private var tryAgain: (() -> Void)?
    private var pause = ConnectivityWait.first
    /// When the present wait began.
    private(set) var since: LoopInstant?
    /// The sum of the earlier waits.
    private(set) var waited = Duration.zero
    private var ticket: Int?
    private var retry: TimerID?
    /// When the time of the whole task is over.
    private var limit: TimerID?

    init(in world: World) {
        self.world = world
    }

    /// - Parameters:
    ///   - deadline: When to stop waiting if the network does not come back.
    ///   - tryAgain: Called when the network may be there, or at the deadline.
    func begin(until deadline: LoopInstant, tryAgain: @escaping () -> Void) {
        stop()
        self.tryAgain = tryAgain
        let loop = world.loop
        since = loop.now
        ticket = world.network.value.watch(for: self)
        retry = loop.startTimer(at: loop.now + pause, in: .all, for: self)
        limit = loop.startTimer(at: deadline, in: .all, for: self)
        pause = min(pause + pause, ConnectivityWait.longest)
    }

    func stop() {
        if let ticket { world.network.value.unwatch(ticket) }
        ticket = nil
        for timer in [retry, limit] {
            if let timer { world.loop.cancelTimer(timer) }
        }
        (retry, limit) = (nil, nil)
        tryAgain = nil
    }

    private func wake() {
        let tryAgain = tryAgain
        stop()
        tryAgain?()
    }

    /// Stops waiting, until it begins again.
    func pass() {
        if let since { waited += since.duration(to: world.loop.now) }
        since = nil
    }

    func networkChanged() {
        // The network has changed: begin with the shortest pause again.
        pause = ConnectivityWait.first
        wake()
    }

    func timerFired(_ timer: TimerID) { wake() }
}

extension Transfer {
    /// The account of this transfer until now.
    ///
    /// - Parameter wait: The task's wait for a network, if there was one.
    func account(at now: LoopInstant, after wait: ConnectivityWait?) -> LoadAccount {
        let end = wait?.since ?? now
        var timings = times.timings(until: end, isReceiving: phase == .receivingBody)
        if let wait {
            let waited = LoadFailure.Timing(
                phase: .waitingForConnectivity,
                duration: wait.waited + end.duration(to: now)
            )
            timings.insert(waited, at: wait.since == nil ? 0 : timings.count)
        }
        return LoadAccount(timings: timings, attempts: times.dial?.attempts ?? [])
    }

    /// What the error says beside what the transfer was waiting for. A server may answer early and still want the rest
    /// of the body.
    var remark: String? {
        guard phase == .receivingBody, times.requestEnded == nil else { return nil }
        return "The server answered before it had all of the request's body, and the rest was not sent."
    }
}

extension LoadMemory {
    /// The waits for a network, once there was none.
    var connectivity: ConnectivityWait? {
        get { self[ConnectivityWait.self] }
        set { self[ConnectivityWait.self] = newValue }
    }
}
