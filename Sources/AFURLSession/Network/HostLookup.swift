import AFBase
import AFLoop

/// Looks a name up, and again when the network has changed, but not too often. Confined to the loop.
///
/// ```
///            begin, change ≥ 5 s after the last one (1 s if it failed), back-off after a failure
///  waiting ───────────────────────────────────────────────────────────────▶ asking
///     ▲                                                                        │ answer
///     └────────────────────────────────────────────────────────────────────────┘
/// ```
final class HostLookup: ResolverClient, TimerTarget {
    private static let interval = Duration.seconds(5)
    private static let firstPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(60)

    private let name: String
    private let shared: Lock<HostFinding>
    private let loop: EventLoop
    private let resolver: LoopBound<any Resolver>
    private let found: () -> Void

    private(set) var finding = HostFinding.pending
    private var isAsking = false
    /// Whether the network has changed since the lookup began.
    private var isOutdated = false
    private var lastAsked: LoopInstant?
    private var pause = HostLookup.firstPause
    private var timer: TimerID?

    /// Nil if the target has no name to look up.
    ///
    /// - Parameter found: Called when the answer has changed.
    init?(
        _ subscriber: PathSubscriber,
        loop: EventLoop,
        resolver: LoopBound<any Resolver>,
        found: @escaping () -> Void
    ) {
        guard case .name(let name) = subscriber.target else { return nil }
        self.name = name
        shared = subscriber.finding
        self.loop = loop
        self.resolver = resolver
        self.found = found
    }

    func begin() {
        ask()
    }

    func end() {
        cancelTimer()
        if isAsking { resolver.value.cancel(self) }
        isAsking = false
    }

    func networkChanged() {
        pause = HostLookup.firstPause
        if isAsking {
            isOutdated = true
        } else {
            askLater(after: isFound ? HostLookup.interval : HostLookup.firstPause)
        }
    }

    func resolved(_ result: Result<[SocketAddress], ResolutionFailure>) {
        isAsking = false
        let former = finding
        finding = next(result)
        shared.withLock { $0 = finding }
        if isOutdated {
            askLater(after: isFound ? HostLookup.interval : HostLookup.firstPause)
        } else if !isFound {
            askLater(after: pause)
            pause = min(pause + pause, HostLookup.longestPause)
        }
        if finding != former { found() }
    }

    func timerFired(_ timer: TimerID) {
        self.timer = nil
        ask()
    }

    private var isFound: Bool { if case .found = finding { true } else { false } }

    private func next(_ result: Result<[SocketAddress], ResolutionFailure>) -> HostFinding {
        switch result {
        case .success(let addresses): .found(addresses.map(\.unmapped))
        // The resolver is overloaded: that says nothing about the name.
        case .failure(let failure) where failure.kind == .overloaded: finding
        case .failure(let failure): .failed(failure)
        }
    }

    private func ask() {
        (isAsking, isOutdated) = (true, false)
        lastAsked = loop.now
        resolver.value.resolve(name, for: self)
    }

    /// - Parameter duration: The time since the last lookup began.
    private func askLater(after duration: Duration) {
        cancelTimer()
        let moment = lastAsked.map { $0 + duration } ?? loop.now
        timer = loop.startTimer(at: max(moment, loop.now), in: .all, for: self)
    }

    private func cancelTimer() {
        if let timer { loop.cancelTimer(timer) }
        timer = nil
    }
}
