import AFBase
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
    private let connectionLimits: ConnectionLimits
    private let connectionMaker: ConnectionMaker
    let observer: (any ConnectionObserver)?
    /// How many connections the pool has begun.
    @exclusivity(unchecked) private var begun = 0
    @exclusivity(unchecked) private(set) var hosts = HostTable()
    @exclusivity(unchecked) private var lastHost: HostPool?
    @exclusivity(unchecked) private var unsettled: [HostPool] = []
    /// Of all hosts together.
    @exclusivity(unchecked) private var census = PoolCensus()
    /// By when the first of their idle connections may not be used any more.
    @exclusivity(unchecked) private var resting = HostSchedule(of: .idleExpiry)
    /// By when the first of their dials was begun that no request waits for.
    @exclusivity(unchecked) private var unclaimed = HostSchedule(of: .unclaimedDial)
    @exclusivity(unchecked) private var hostsMade = 0
    @exclusivity(unchecked) private var reaper: (timer: TimerID, deadline: LoopInstant)?
    /// The endpoints that failed at answering pipelined requests.
    @exclusivity(unchecked) private var poorPipeliners: Set<Endpoint> = []
    private static let poorPipelinerLimit = 256
    /// The rules that replaced others, by owner.
    @exclusivity(unchecked) private(set) var present: [Int: SecurityContext] = [:]

    /// When a request last got a connection.
    @exclusivity(unchecked) var lastTurn: LoopInstant?

    /// Connections opened before this generation are not used again.
    @exclusivity(unchecked) private(set) var generation = 0

    /// Hosts that may not dial before others have closed connections: those without any connection first, and then the
    /// longest waiting.
    @exclusivity(unchecked) private var wanting = Heap<HostWant, HostPool>()
    /// The host whose turn it is to dial, however many others want to.
    @exclusivity(unchecked) private var favoured: HostPool?

    package convenience init(platform: Platform, settings: PoolSettings, observer: (any ConnectionObserver)?) {
        self.init(platform: platform, settings: settings, observer: observer, connectionMaker: { $0.connection() })
    }

    init(
        platform: Platform,
        settings: PoolSettings,
        observer: (any ConnectionObserver)?,
        connectionMaker: @escaping ConnectionMaker
    ) {
        self.observer = observer
        self.platform = platform
        self.connectionMaker = connectionMaker
        limits = settings.limits
        var rules = settings.rules
        rules.resolver = settings.nameResolver.map { LoopBound(ProgramResolver($0, on: platform), on: platform.loop) }
        self.rules = rules
        queueInterval = LoopInterval.limit(settings.queueTimeout)
        connectionLimits = ConnectionLimits(
            continuePatience: LoopInterval(timeout: settings.continueTimeout, default: 0),
            receiving: settings.receiveRate.flatMap { RateLimit(bytesPerSecond: $0, on: platform.loop) },
            sending: settings.sendRate.flatMap { RateLimit(bytesPerSecond: $0, on: platform.loop) }
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

    /// Has connections made that no request waits for. False if the key names nothing that could be dialled.
    package func begin(_ warmUp: any WarmUp, to key: ConnectionKey) -> Bool {
        host(for: key).map { $0.add(warmUp) } != nil
    }

    package func end(_ warmUp: any WarmUp, to key: ConnectionKey) { _ = hosts[key]?.takeWarmUps { $0 === warmUp } }

    /// Whether there may be another one. It takes the place of no other.
    var mayWarmUp: Bool {
        census.idle < limits.maximumIdle && wanting.isEmpty && limits.total.map { census.connections < $0 } ?? true
    }

    // MARK: - Connections

    func makeConnection(on channel: any ByteChannel, report: ConnectionReport, of host: HostPool)
        -> any HTTPConnection
    {
        connectionMaker(
            ConnectionParts(
                channel: channel,
                made: report,
                generation: generation,
                owner: host,
                platform: platform,
                limits: connectionLimits
            )
        )
    }

    /// A connection of a host is idle now.
    func idleConnectionCame(to host: HostPool, until expires: LoopInstant) {
        resting.add(host, date: expires)
        armReaper(at: expires)
    }

    func closeSurplusIdle() {
        if census.idle > limits.maximumIdle { closeFirstToExpire() }
    }

    /// What one host has, and whether it wants more, is not what it was.
    func hostChanged(_ host: HostPool, from former: PoolCensus) {
        census += host.census
        census -= former
        guard let place = host.wantingPlace else { return }
        if host.hasWaiters {
            wanting.move(place, to: HostWant(of: host))
        } else {
            stopWanting(host)
        }
    }

    /// Closes idle connections now, and those in use when their exchange ends.
    package func retireAll() {
        generation += 1
        for host in hostsInOrder {
            host.closeAllIdle()
            settleLater(host)
        }
    }

    /// A simulated run must be the same each time, so the order is not the table's.
    private var hostsInOrder: [HostPool] { hosts.all.sorted { $0.number < $1.number } }

    /// A connection made under the `former` rules serves no further request. Requests that wait for one wait under the
    /// present rules; exchanges under way end as they began.
    package func replace(_ former: SecurityContext, with present: SecurityContext) {
        self.present[present.owner] = present
        for host in hostsInOrder where host.key.isMade(under: former) {
            for client in host.retire() { client.rulesChanged() }
            for warmUp in host.takeWarmUps(where: { _ in true }) { warmUp.stopped(by: nil) }
            host.closeAllIdle()
            settleLater(host)
        }
    }

    /// Whether the rules of the key, those of its proxy included, hold now.
    package func hasPresentRules(_ key: ConnectionKey) -> Bool { present.isEmpty || key.renewed(under: present) == key }

    /// A host has failed at answering pipelined requests: the pool sends it no more of them.
    func avoidPipelining(to endpoint: Endpoint) {
        if poorPipeliners.count < ConnectionPool.poorPipelinerLimit { poorPipeliners.insert(endpoint) }
    }

    /// Call it after the last exchange of an invalidated session.
    package func shutDown() {
        retireAll()
        for host in hostsInOrder {
            host.cancelDials()
            _ = host.takeWarmUps { _ in true }
        }
        if let reaper { loop.cancelTimer(reaper.timer) }
        reaper = nil
        lastHost = nil
        while let host = wanting.first { stopWanting(host) }
        connectionLimits.receiving?.shutDown()
        connectionLimits.sending?.shutDown()
    }

    /// Closes an idle connection to make room: the one that could be used for the shortest time.
    @discardableResult
    private func closeFirstToExpire() -> Bool {
        guard let (host, expiry) = resting.first() else { return false }
        host.closeIdle(expiringUntil: expiry, atMost: 1)
        settleLater(host)
        return true
    }

    // MARK: - Turns

    private func host(for key: ConnectionKey) -> HostPool? {
        // Most programs talk to one host at a time, and comparing a key is several times cheaper than hashing it.
        if let lastHost, lastHost.serves(key) { return lastHost }
        lastHost = hosts[key] ?? makeHost(for: key)
        return lastHost
    }

    private func makeHost(for key: ConnectionKey) -> HostPool? {
        guard let target = rules.target(for: key) else { return nil }
        hostsMade += 1
        let host = HostPool(
            key: key,
            target: target,
            number: hostsMade,
            limit: limits.perHost,
            avoidsPipelining: poorPipeliners.contains(key.endpoint),
            pool: self,
            platform: platform
        )
        hosts.add(host)
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
            // Before it is served: what comes from within the call has it served once more, and is not forgotten.
            host.isUnsettled = false
            settle(host)
        }
        if !wanting.isEmpty { settleWanting() }
    }

    private func settle(_ host: HostPool) {
        host.settle()
        if let oldest = host.oldestUnclaimedDial {
            unclaimed.add(host, date: oldest)
            armReaper(at: oldest + limits.unclaimedTime)
        }
        if host.isEmpty { forget(host) }
    }

    private func forget(_ host: HostPool) {
        resting.remove(host)
        unclaimed.remove(host)
        if lastHost === host { lastHost = nil }
        // A request may have come since, and made another.
        hosts.remove(host)
    }

    // MARK: - All connections together

    /// Whether the host may dial. Makes room if there is none, at the cost of a connection that no request uses.
    func mayDial(_ host: HostPool) -> Bool {
        guard let maximum = limits.total else { return true }
        if census.connections < maximum, favoured === host || !isNeededElsewhere(by: host) {
            favoured = nil
            return true
        }
        if census.connections >= maximum, makeRoom() { return true }
        if host.wantingPlace == nil { host.wantingPlace = wanting.add(host, HostWant(of: host)) }
        return false
    }

    private func makeRoom() -> Bool { closeFirstToExpire() || cancelUnclaimedDial() }

    /// Cancels the oldest dial that no request waits for, to make room for one that a request needs.
    private func cancelUnclaimedDial() -> Bool {
        guard let (host, begun) = unclaimed.first() else { return false }
        host.cancelUnclaimedDials(begunUntil: begun)
        settleLater(host)
        return true
    }

    /// Whether another host, which has requests and no connection at all, goes before this one. Then the pool closes a
    /// connection that becomes free here: the other would wait for as long as this host has something to do.
    func isNeededElsewhere(by host: HostPool) -> Bool {
        wanting.firstKey == .first && wanting.first !== host
    }

    private func stopWanting(_ host: HostPool) {
        if let place = host.wantingPlace.take() { wanting.remove(place) }
    }

    /// Serves the hosts without any connection first, with one each; then the others, in order.
    private func settleWanting() {
        guard let maximum = limits.total else { return }
        while let host = wanting.first, census.connections < maximum || makeRoom() {
            // Before it is served: if it may still not dial, it takes its place anew.
            stopWanting(host)
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
        while let (host, expiry) = resting.first() {
            guard expiry <= loop.now else {
                armReaper(at: expiry)
                break
            }
            host.closeIdle(expiringUntil: loop.now)
            settleLater(host)
        }
        while let (host, begun) = unclaimed.first() {
            guard begun + limits.unclaimedTime <= loop.now else {
                armReaper(at: begun + limits.unclaimedTime)
                break
            }
            host.cancelUnclaimedDials(begunUntil: begun)
            settleLater(host)
        }
    }
}

/// The hosts of a pool, by their keys.
///
/// The first few are a list, which is all that most programs need: the first entry of a dictionary has the runtime pass
/// over all conformances of the program, to find out how its key is hashed, and a key is compared for less than it is
/// hashed.
struct HostTable {
    private static let mostInList = 8

    private var list: [HostPool] = []
    private var others: [ConnectionKey: HostPool] = [:]

    /// All of them, in no order.
    var all: [HostPool] { others.isEmpty ? list : list + others.values }

    subscript(key: ConnectionKey) -> HostPool? {
        list.first { $0.key == key } ?? (others.isEmpty ? nil : others[key])
    }

    /// Adds a host with a key that no other one has.
    mutating func add(_ host: HostPool) {
        if list.count < Self.mostInList { list.append(host) } else { others[host.key] = host }
    }

    /// Removes this very host, if it is there.
    mutating func remove(_ host: HostPool) {
        if let place = list.firstIndex(where: { $0 === host }) {
            list.remove(at: place)
        } else if !others.isEmpty, others[host.key] === host {
            others[host.key] = nil
        }
    }
}
