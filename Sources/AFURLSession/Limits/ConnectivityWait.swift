import AFLoop
import AFTransport
import Glibc

/// The wait of one task for a network. Confined to the loop.
final class ConnectivityWait: ChangeMonitorClient, TimerTarget {
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
    func begin(until deadline: LoopInstant, _ tryAgain: @escaping () -> Void) {
        end()
        self.tryAgain = tryAgain
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
        tryAgain = nil
    }

    private func wake() {
        let tryAgain = tryAgain
        end()
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

extension DialAttempt {
    /// Whether this machine has no route to the address: not now, or not by a network that the session may use.
    var isLackOfNetwork: Bool {
        switch outcome {
        case .failed(let error): [ENETUNREACH, ENETDOWN, EHOSTUNREACH, ENONET].contains(error.code)
        case .cellular: true
        case .connected, .abandoned, .unanswered, .forbidden: false
        }
    }
}
