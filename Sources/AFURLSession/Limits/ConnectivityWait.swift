import AFLoop
import AFTransport

/// The wait of one task for a network. Confined to the loop.
final class ConnectivityWait: ChangeMonitorClient, TimerTarget {
    private static let first = Duration.seconds(1)
    private static let longest = Duration.seconds(60)

    private let core: TaskCore
    private let world: World
    private var pause = ConnectivityWait.first
    /// When the present wait began.
    private(set) var since: LoopInstant?
    /// The sum of the earlier waits.
    private(set) var waited = Duration.zero
    private var ticket: Int?
    private var retry: TimerID?
    /// When the time of the whole task is over.
    private var limit: TimerID?

    init(of core: TaskCore) {
        self.core = core
        world = core.session.world
    }

    /// - Parameter deadline: When to stop waiting if the network does not come back.
    func begin(until deadline: LoopInstant) {
        end()
        let loop = world.loop
        since = loop.now
        ticket = world.network.value.watch(for: self)
        retry = loop.startTimer(at: loop.now + pause, in: .all, for: self)
        limit = loop.startTimer(at: deadline, in: .all, for: self)
        pause = min(pause + pause, ConnectivityWait.longest)
    }

    func end() {
        if let ticket { world.network.value.unwatch(ticket) }
        ticket = nil
        for timer in [retry, limit] {
            if let timer { world.loop.cancelTimer(timer) }
        }
        (retry, limit) = (nil, nil)
    }

    /// Stops waiting, until it begins again.
    func pass() {
        if let since { waited += since.duration(to: world.loop.now) }
        since = nil
    }

    func networkChanged() {
        // The network has changed: begin with the shortest pause again.
        pause = ConnectivityWait.first
        end()
        core.tryAgain()
    }

    func timerFired(_ timer: TimerID) {
        end()
        core.tryAgain()
    }
}

extension TaskCore {
    /// True if there is no network, and the task waits for one.
    func waitsForNetwork(_ error: LoadError, _ transfer: Transfer) -> Bool {
        guard session.settings.limits.waitsForConnectivity, error.isLackOfNetwork, isLoading,
            let present = presentRequest
        else { return false }
        let course = course(beginningWith: present)
        if course.connectivity == nil { tellOfWaiting() }
        let wait = course.connectivity ?? ConnectivityWait(of: self)
        course.connectivity = wait
        wait.begin(until: transfer.deadlineOfNext)
        return true
    }

    private func tellOfWaiting() {
        guard let (delegate, task) = taskDelegate else { return }
        session.outbox.post(.block { delegate.urlSession(task.session, taskIsWaitingForConnectivity: task) })
    }

    /// Keeps the request before it was addressed to a proxy: a proxy may be told more than the server (RFC 9112
    /// §3.2.2), and again when the request is sent again.
    func rememberForRetry(_ request: WireRequest, by route: ProxyRoute?) {
        guard route != nil, session.settings.limits.waitsForConnectivity, let present = presentRequest else {
            course?.unaddressed = nil
            return
        }
        course(beginningWith: present).unaddressed = request
    }

    /// The network may be there now: try.
    fileprivate func tryAgain() {
        guard isLoading else { return }
        postponeIfSuspended { [self] in
            guard isLoading, let course, let former = transfer else { return }
            guard session.loop.now < former.hardDeadline else { return fail(.transfer(.outOfTime(.offline))) }
            course.connectivity?.pass()
            course.hardDeadline = former.hardDeadline
            let body = former.surrenderBody()
            // The transfer never had a connection: it gets no entry in the metrics.
            transfer = nil
            transmit(course.unaddressed ?? former.request, again: body)
        }
    }
}

extension LoadError {
    /// Whether nothing was sent because this machine has no route to the server or the proxy.
    var isLackOfNetwork: Bool {
        switch self {
        case .transfer(.dial(let failure, let report)): failure.isLackOfNetwork(report)
        case .transfer(.proxy(let failure)):
            if case .dial(let cause, let report) = failure.cause { cause.isLackOfNetwork(report) } else { false }
        default: false
        }
    }
}

extension DialFailure {
    func isLackOfNetwork(_ report: DialReport) -> Bool {
        switch self {
        case .unresolved(let failure): failure.kind == .unavailable
        case .unreachable: !report.attempts.isEmpty && report.attempts.allSatisfy(\.isLackOfNetwork)
        case .unanswered, .forbidden: false
        }
    }
}
