import AFLoop
import AFTransport

/// Knows all subscribers to paths, and reads the state of the network once for all of them. Confined to the loop.
///
/// ```
///  change, new subscriber, name found ──▶ readSoon ──▶ worker: NetworkSource.read ──▶ PathWatch: another path?
///                                            └─ one reading at a time; what comes meanwhile means one more
/// ```
final class PathCenter: ChangeMonitorClient, TimerTarget {
    private static let firstPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(60)

    private let loop: EventLoop
    private let changes: LoopBound<any ChangeMonitor>
    private let resolver: LoopBound<any Resolver>
    private let source: any NetworkSource
    private let workers: any BlockingWorkers

    private var watches: [PathWatch] = []
    private var ticket: Int?
    private var isReading = false
    private var isOutdated = false
    /// How many readings have begun.
    private var readings = 0
    private var retry: TimerID?
    private var pause = PathCenter.firstPause

    init(
        loop: EventLoop,
        changes: LoopBound<any ChangeMonitor>,
        resolver: LoopBound<any Resolver>,
        source: any NetworkSource,
        workers: any BlockingWorkers
    ) {
        self.loop = loop
        self.changes = changes
        self.resolver = resolver
        self.source = source
        self.workers = workers
    }

    func add(_ subscriber: PathSubscriber) {
        guard !subscriber.isOver else { return }
        // Watch first, so that no change falls between the reading and the watching.
        if ticket == nil { ticket = changes.value.watch(for: self) }
        let lookup = HostLookup(subscriber, loop: loop, resolver: resolver) { [weak self] in self?.readSoon() }
        let watch = PathWatch(subscriber: subscriber, lookup: lookup, since: readings + 1)
        watches.append(watch)
        if let lookup { lookup.begin() } else { readSoon() }
    }

    func remove(_ subscriber: PathSubscriber) {
        guard let index = watches.firstIndex(where: { $0.subscriber === subscriber }) else { return }
        watches.remove(at: index).lookup?.end()
        guard watches.isEmpty else { return }
        if let ticket { changes.value.unwatch(ticket) }
        if let retry { loop.cancelTimer(retry) }
        (ticket, retry) = (nil, nil)
        pause = PathCenter.firstPause
    }

    func networkChanged() {
        for watch in watches { watch.lookup?.networkChanged() }
        readSoon()
    }

    func timerFired(_ timer: TimerID) {
        retry = nil
        readSoon()
    }

    // MARK: - Reading

    private func readSoon() {
        guard !isReading else {
            isOutdated = true
            return
        }
        guard !watches.isEmpty else { return }
        (isReading, isOutdated) = (true, false)
        readings += 1
        let center = LoopBound(confined: self, on: loop)
        let addresses = addressesOfInterest
        workers.sharedWorker().run { [source, loop] in
            let result = source.read(routesTo: addresses)
            loop.enqueue(in: .all) { center.value.finish(result) }
        }
    }

    private var addressesOfInterest: [SocketAddress] {
        var all = FarAddresses.all
        var known = Set(all)
        for watch in watches {
            for address in watch.addresses where known.insert(address).inserted { all.append(address) }
        }
        return all
    }

    private func finish(_ result: NetworkPath.Reading) {
        isReading = false
        for watch in watches { watch.take(result, number: readings) }
        switch result {
        case .success: pause = PathCenter.firstPause
        case .failure: retryLater()
        }
        if isOutdated { readSoon() }
    }

    private func retryLater() {
        guard retry == nil, !watches.isEmpty else { return }
        retry = loop.startTimer(at: loop.now + pause, in: .all, for: self)
        pause = min(pause + pause, PathCenter.longestPause)
    }
}
