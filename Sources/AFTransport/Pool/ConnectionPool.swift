package import AFLoop
import AFWire

/// The connections of one session: a `HostPool` for each host, and what concerns them all.
///
/// It has them served once per turn, after the loop has delivered readiness. By then every idle connection that the peer
/// has closed, or has sent bytes on, is gone; and it serves requests that arrived together by priority.
package final class ConnectionPool: TurnEndTarget, TimerTarget {
    private let platform: Platform
    let limits: PoolLimits
    package let rules: ConnectionRules
    /// How long a request may wait for its turn.
    package let queueInterval: LoopInterval?
    private let exchangeLimits: ExchangeLimits
    private let exchangeMaker: ExchangeMaker
    let observer: (any ConnectionObserver)?
    /// How many connections the pool has begun.
    @exclusivity(unchecked) private var begun = 0
    @exclusivity(unchecked) private var hosts: [ConnectionKey: HostPool] = [:]
    @exclusivity(unchecked) private var lastHost: HostPool?
    @exclusivity(unchecked) private var unsettled: [HostPool] = []
    @exclusivity(unchecked) private var idleCount = 0
    @exclusivity(unchecked) private var reaper: (timer: TimerID, deadline: LoopInstant)?
    /// The endpoints that failed at answering pipelined requests.
    @exclusivity(unchecked) private var poorPipeliners: Set<Endpoint> = []
    private static let poorPipelinerLimit = 256
    /// The rules that replaced others, by owner.
    @exclusivity(unchecked) private(set) var present: [Int: SecurityContext] = [:]

    /// Connections opened before this generation are not used again.
    @exclusivity(unchecked) private(set) var generation = 0

    /// Hosts that may not dial before others have closed connections, longest waiting first.
    @exclusivity(unchecked) private var wanting: [HostPool] = []
    /// The host whose turn it is to dial, however many others want to.
    @exclusivity(unchecked) private var favoured: HostPool?

    package convenience init(platform: Platform, settings: PoolSettings, observer: (any ConnectionObserver)?) {
        self.init(platform: platform, settings: settings, observer: observer, exchangeMaker: HTTP1Exchange.init)
    }

    init(
        platform: Platform,
        settings: PoolSettings,
        observer: (any ConnectionObserver)?,
        exchangeMaker: @escaping ExchangeMaker
    ) {
        self.observer = observer
        self.platform = platform
        self.exchangeMaker = exchangeMaker
        limits = settings.limits
        rules = settings.rules
        queueInterval = settings.queueInterval
        exchangeLimits = ExchangeLimits(
            continuePatience: settings.continuePatience,
            receiving: settings.receiveRate.flatMap { RateLimit($0, on: platform.loop) },
            sending: settings.sendRate.flatMap { RateLimit($0, on: platform.loop) }
        )
    }

    private var loop: EventLoop { platform.loop }

    /// The number for a connection that begins now.
    package func nextNumber() -> Int {
        begun += 1
        return begun
    }

    // MARK: - Requests

    /// False if the key names nothing that could be dialled.
    func enqueue(_ client: any PoolClient, priority: Float) -> Bool {
        guard let host = host(for: client.key) else { return false }
        host.enqueue(client, priority: priority)
        return true
    }

    // MARK: - Connections

    func makeExchange(on channel: any ByteChannel, _ report: ConnectionReport, of host: HostPool) -> any Exchange {
        exchangeMaker(
            ExchangeParts(
                channel: channel,
                made: report,
                generation: generation,
                owner: host,
                platform: platform,
                limits: exchangeLimits
            )
        )
    }

    /// A connection of a host is idle now.
    func idleConnectionCame(until expires: LoopInstant) {
        idleCount += 1
        armReaper(at: expires)
    }

    /// A connection of a host is idle no more.
    func idleConnectionTaken() {
        idleCount -= 1
    }

    func closeSurplusIdle() {
        if idleCount > limits.maximumIdle { closeLongestIdle() }
    }

    /// Closes idle connections now, and those in use when their exchange ends.
    package func retireAll() {
        generation += 1
        for host in hosts.values {
            host.closeAllIdle()
            settleLater(host)
        }
    }

    /// A connection made under the `former` rules serves no further request. Requests that wait for one wait under the
    /// present rules; exchanges under way end as they began.
    package func replace(_ former: SecurityContext, with present: SecurityContext) {
        self.present[present.owner] = present
        let retired = hosts.values.filter { $0.key.isMade(under: former) }
            .sorted { $0.key.endpoint.text < $1.key.endpoint.text }
        for host in retired {
            for client in host.retire() { client.wait(under: self.present) }
            host.closeAllIdle()
            settleLater(host)
        }
    }

    /// A host has failed at answering pipelined requests: the pool sends it no more of them.
    func avoidPipelining(to endpoint: Endpoint) {
        if poorPipeliners.count < ConnectionPool.poorPipelinerLimit { poorPipeliners.insert(endpoint) }
    }

    /// Call it after the last exchange of an invalidated session.
    package func shutDown() {
        retireAll()
        for host in hosts.values { host.cancelDials() }
        if let reaper { loop.cancelTimer(reaper.timer) }
        reaper = nil
        lastHost = nil
        wanting = []
        exchangeLimits.receiving?.shutDown()
        exchangeLimits.sending?.shutDown()
    }

    @discardableResult
    private func closeLongestIdle() -> Bool {
        guard let host = host(withOldest: \.longestIdleExpiry) else { return false }
        host.closeLongestIdle()
        return true
    }

    private func host(withOldest date: (HostPool) -> LoopInstant?) -> HostPool? {
        let oldest = hosts.values.min { left, right in
            let (sooner, later) = (date(left) ?? .distantFuture, date(right) ?? .distantFuture)
            // Hosts with the same date have an order that is not the dictionary's: a simulated run must be the same
            // each time.
            return sooner == later ? left.key.endpoint.text < right.key.endpoint.text : sooner < later
        }
        return oldest.flatMap { date($0) == nil ? nil : $0 }
    }

    // MARK: - Turns

    private func host(for key: ConnectionKey) -> HostPool? {
        // Most programs talk to one host at a time, and comparing a key is several times cheaper than hashing it.
        if let lastHost, lastHost.key == key { return lastHost }
        lastHost = hosts[key] ?? makeHost(for: key)
        return lastHost
    }

    private func makeHost(for key: ConnectionKey) -> HostPool? {
        guard let target = rules.target(for: key) else { return nil }
        let host = HostPool(
            key,
            target,
            limit: limits.perHost,
            avoidsPipelining: poorPipeliners.contains(key.endpoint),
            pool: self,
            platform: platform
        )
        hosts[key] = host
        return host
    }

    func settleLater(_ host: HostPool) {
        guard !host.isUnsettled else { return }
        host.isUnsettled = true
        if unsettled.isEmpty { loop.atTurnEnd(self) }
        unsettled.append(host)
    }

    package func turnEnded() {
        let batch = unsettled
        unsettled.removeAll(keepingCapacity: true)
        for host in batch {
            host.isUnsettled = false
            settle(host)
        }
        if !wanting.isEmpty { settleWanting() }
    }

    private func settle(_ host: HostPool) {
        host.settle()
        if let oldest = host.oldestUnclaimedDial { armReaper(at: oldest + limits.unclaimedTime) }
        if host.isEmpty {
            hosts[host.key] = nil
            if lastHost === host { lastHost = nil }
        }
    }

    // MARK: - All connections together

    private var total: Int { hosts.values.reduce(0) { $0 + $1.connectionCount } }

    /// Whether the host may dial. Makes room if there is none, at the cost of a connection that no request uses.
    func mayDial(_ host: HostPool) -> Bool {
        guard let maximum = limits.total else { return true }
        if total < maximum, favoured === host || !isNeededElsewhere(by: host) {
            favoured = nil
            return true
        }
        if total >= maximum, closeLongestIdle() || cancelUnclaimedDial() { return true }
        if !wanting.contains(where: { $0 === host }) { wanting.append(host) }
        return false
    }

    /// Cancels the oldest dial that no request waits for, to make room for one that a request needs.
    private func cancelUnclaimedDial() -> Bool {
        guard let oldest = host(withOldest: \.oldestUnclaimedDial), let begun = oldest.oldestUnclaimedDial else {
            return false
        }
        oldest.cancelUnclaimedDials(begunUntil: begun)
        settleLater(oldest)
        return true
    }

    /// Whether another host has requests and no connection at all. Then the pool closes a connection that becomes free
    /// here: the others would wait for as long as this host has something to do.
    func isNeededElsewhere(by host: HostPool) -> Bool {
        !wanting.isEmpty && wanting.contains { $0 !== host && $0.isDestitute }
    }

    /// Serves the hosts without any connection first, with one each; then the others, in order.
    private func settleWanting() {
        guard let maximum = limits.total else { return }
        wanting.removeAll { !$0.hasWaiters }
        while !wanting.isEmpty, total < maximum || closeLongestIdle() {
            let host = wanting.remove(at: wanting.firstIndex { $0.connectionCount == 0 } ?? 0)
            favoured = host
            settle(host)
            favoured = nil
        }
    }

    // MARK: - Reaping

    private func armReaper(at deadline: LoopInstant) {
        if let reaper {
            guard deadline < reaper.deadline else { return }
            loop.cancelTimer(reaper.timer)
        }
        reaper = (loop.startTimer(at: deadline, for: self), deadline)
    }

    package func timerFired(_ timer: TimerID) {
        reaper = nil
        var next = LoopInstant.distantFuture
        for host in hosts.values {
            host.closeExpired(at: loop.now)
            if let expiry = host.firstExpiry { next = min(next, expiry) }
            if let oldest = host.oldestUnclaimedDial, oldest + limits.unclaimedTime <= loop.now {
                host.cancelUnclaimedDials(begunUntil: oldest)
            }
            // Settling arms the reaper again for other dials that no request waits for.
            settleLater(host)
        }
        if next != .distantFuture { armReaper(at: next) }
    }
}
