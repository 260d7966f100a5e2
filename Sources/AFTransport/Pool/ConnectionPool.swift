package import AFLoop
import AFWire

/// The connections of one session. Performs what a `PoolMachine` per peer decides.
///
/// It decides once per turn, after the loop has delivered readiness. By then every idle connection that the peer has
/// closed, or has sent bytes on, is gone; and it serves requests that arrived together by priority.
package final class ConnectionPool: TurnEndTarget, TimerTarget {
    private let platform: Platform
    private let limits: PoolLimits
    package let rules: ConnectionRules
    /// How long a request may wait for its turn.
    package let queueInterval: LoopInterval?
    /// What connections may receive and send. Nil: all they can.
    package let receiving: RateLimit?
    package let sending: RateLimit?
    /// How long a request waits for `100 Continue` before it sends its body without.
    package let continuePatience: LoopInterval
    package let observer: (any ConnectionObserver)?
    /// How many connections the pool has begun.
    @exclusivity(unchecked) private var begun = 0
    @exclusivity(unchecked) private var peers: [ConnectionKey: Peer] = [:]
    @exclusivity(unchecked) private var lastPeer: Peer?
    @exclusivity(unchecked) private var unsettled: [Peer] = []
    @exclusivity(unchecked) private var idleCount = 0
    @exclusivity(unchecked) private var reaper: (timer: TimerID, deadline: LoopInstant)?
    /// The endpoints that failed at answering pipelined requests.
    @exclusivity(unchecked) private var poorPipeliners: Set<Endpoint> = []
    private static let poorPipelinerLimit = 256
    /// The rules that replaced others, by owner.
    @exclusivity(unchecked) package private(set) var present: [Int: SecurityContext] = [:]

    /// Connections opened before this generation are not used again.
    @exclusivity(unchecked) package private(set) var generation = 0

    /// Peers that may not dial before others have closed connections, longest waiting first.
    @exclusivity(unchecked) private var wanting: [Peer] = []
    /// The peer whose turn it is to dial, however many others want to.
    @exclusivity(unchecked) private var favoured: Peer?

    package init(platform: Platform, settings: PoolSettings, observer: (any ConnectionObserver)?) {
        self.observer = observer
        self.platform = platform
        limits = settings.limits
        continuePatience = settings.continuePatience
        rules = settings.rules
        queueInterval = settings.queueInterval
        receiving = settings.receiveRate.flatMap { RateLimit($0, on: platform.loop) }
        sending = settings.sendRate.flatMap { RateLimit($0, on: platform.loop) }
    }

    private var loop: EventLoop { platform.loop }

    /// The number for a connection that begins now.
    package func nextNumber() -> Int {
        begun += 1
        return begun
    }

    // MARK: - Requests

    /// False if the key names nothing that could be dialled.
    package func enqueue(_ transfer: Transfer, priority: Float) -> Bool {
        guard let peer = peer(for: transfer.key) else { return false }
        transfer.peer = peer
        peer.machine.requestArrived(transfer, priority: priority)
        settleLater(peer)
        return true
    }

    package func withdraw(_ transfer: Transfer) {
        guard let peer = transfer.peer else { return }
        peer.machine.requestLeft(transfer)
        settleLater(peer)
    }

    package func changePriority(of transfer: Transfer, to priority: Float) {
        transfer.peer?.machine.priorityChanged(transfer, priority)
    }

    // MARK: - Connections

    func exchangeEnded(on connection: HTTPConnection, mayReuse: Bool) {
        let peer = connection.peer
        if mayReuse, !peer.isRetired, peer.key.route?.servesOnce != true, connection.generation == generation,
            !isNeededElsewhere(by: peer),
            let expires = limits.expiry(of: connection, at: loop.now)
        {
            connection.rest()
            peer.machine.connectionFreed(connection, expires: expires)
            idleCount += 1
            if idleCount > limits.maximumIdle { evictLongestIdle() }
            armReaper(at: expires)
        } else {
            peer.machine.connectionLost()
            connection.close()
        }
        settleLater(peer)
    }

    /// The connection has given its channel away.
    func connectionLeft(_ connection: HTTPConnection) {
        connection.peer.machine.connectionClosed(connection)
        connection.peer.machine.connectionLost()
        settleLater(connection.peer)
    }

    /// Whether a connection may serve another request, as far as its age is concerned.
    package func mayGoOn(_ connection: HTTPConnection) -> Bool {
        connection.generation == generation && limits.expiry(of: connection, at: loop.now) != nil
    }

    /// The peer closed an idle connection, or spoke on it without being asked.
    func idleConnectionEnded(_ connection: HTTPConnection) {
        if connection.peer.machine.idleConnectionClosed(connection) { idleCount -= 1 }
        connection.close()
        settleLater(connection.peer)
    }

    /// Closes idle connections now, and those in use when their exchange ends.
    package func retireAll() {
        generation += 1
        for peer in peers.values {
            for connection in peer.machine.takeAllIdle() { closeIdle(connection) }
            settleLater(peer)
        }
    }

    /// A connection made under the `former` rules serves no further request. Requests that wait for one wait under the
    /// present rules; exchanges under way end as they began.
    package func replace(_ former: SecurityContext, with present: SecurityContext) {
        self.present[present.owner] = present
        let retired = peers.values.filter { $0.key.isMade(under: former) }
            .sorted { $0.key.endpoint.text < $1.key.endpoint.text }
        for peer in retired {
            for transfer in peer.retire() { transfer.wait(under: self.present, in: self) }
            for connection in peer.machine.takeAllIdle() { closeIdle(connection) }
            settleLater(peer)
        }
    }

    /// Queues a pipelined request again, whose connection ended before its turn came.
    package func sendAgain(_ transfer: Transfer) {
        guard let peer = transfer.peer, peer.isRetired else { return transfer.waitAgain(in: self) }
        transfer.wait(under: present, in: self)
    }

    /// A request has ended that waited, between two connections, for its body.
    func gaveUpBetweenConnections(_ transfer: Transfer) {
        guard let peer = transfer.peer else { return }
        peer.machine.connectionLost()
        settleLater(peer)
    }

    /// The peer failed at answering pipelined requests: the pool sends it no more of them.
    func avoidPipelining(to peer: Peer) {
        peer.avoidsPipelining = true
        if poorPipeliners.count < ConnectionPool.poorPipelinerLimit { poorPipeliners.insert(peer.key.endpoint) }
    }

    /// Queues a request again, whose connection failed and whose peer is retired.
    func requeue(_ transfer: Transfer) {
        transfer.peer?.machine.connectionLost()
        transfer.peer.map(settleLater)
        transfer.wait(under: present, in: self)
    }

    /// Call it after the last exchange of an invalidated session.
    package func shutDown() {
        retireAll()
        for peer in peers.values { peer.cancelDials() }
        if let reaper { loop.cancelTimer(reaper.timer) }
        reaper = nil
        lastPeer = nil
        wanting = []
        receiving?.shutDown()
        sending?.shutDown()
    }

    private func closeIdle(_ connection: HTTPConnection) {
        idleCount -= 1
        connection.close()
    }

    @discardableResult
    private func evictLongestIdle() -> Bool {
        guard let connection = peer(withOldest: \.machine.idle.first?.expires)?.machine.takeLongestIdle() else {
            return false
        }
        closeIdle(connection)
        return true
    }

    private func peer(withOldest date: (Peer) -> LoopInstant?) -> Peer? {
        let oldest = peers.values.min { left, right in
            let (sooner, later) = (date(left) ?? .distantFuture, date(right) ?? .distantFuture)
            // Peers with the same date have an order that is not the dictionary's: a simulated run must be the same
            // each time.
            return sooner == later ? left.key.endpoint.text < right.key.endpoint.text : sooner < later
        }
        return oldest.flatMap { date($0) == nil ? nil : $0 }
    }

    // MARK: - Turns

    private func peer(for key: ConnectionKey) -> Peer? {
        // Most programs talk to one peer at a time, and comparing a key is several
        // times cheaper than hashing it.
        if let lastPeer, lastPeer.key == key { return lastPeer }
        let peer =
            peers[key]
            ?? rules.target(for: key).map { Peer(key, $0, limit: limits.perHost, pool: self, platform: platform) }
        if let peer, peer.machine.isEmpty {
            peers[key] = peer
            peer.avoidsPipelining = poorPipeliners.contains(key.endpoint)
        }
        lastPeer = peer
        return peer
    }

    func settleLater(_ peer: Peer) {
        guard !peer.isUnsettled else { return }
        peer.isUnsettled = true
        if unsettled.isEmpty { loop.atTurnEnd(self) }
        unsettled.append(peer)
    }

    package func turnEnded() {
        let batch = unsettled
        unsettled.removeAll(keepingCapacity: true)
        for peer in batch {
            peer.isUnsettled = false
            settle(peer)
        }
        if !wanting.isEmpty { settleWanting() }
    }

    private func settle(_ peer: Peer) {
        var pipelines: [HTTPConnection] = []
        while let action = peer.machine.nextAction(at: loop.now, mayDial: mayDial(peer)) {
            switch action {
            case .assign(let transfer, let connection):
                idleCount -= 1
                connection.begin(transfer)
            case .append(let transfer, let connection):
                connection.append(transfer)
                if !pipelines.contains(where: { $0 === connection }) { pipelines.append(connection) }
            case .dial: peer.dial()
            case .cancelDial: peer.cancelNewestDial()
            case .close(let connection): closeIdle(connection)
            }
        }
        for connection in pipelines { connection.writeAhead() }
        if !peer.machine.waiters.isEmpty { peer.claimDials() }
        if let oldest = peer.oldestUnclaimedDial { armReaper(at: oldest + limits.unclaimedTime) }
        if peer.machine.isEmpty {
            peers[peer.key] = nil
            if lastPeer === peer { lastPeer = nil }
        }
    }

    // MARK: - All connections together

    private var total: Int { peers.values.reduce(0) { $0 + $1.machine.connections } }

    /// Whether the peer may dial. Makes room if there is none, at the cost of a connection that no request uses.
    private func mayDial(_ peer: Peer) -> Bool {
        guard let maximum = limits.total else { return true }
        if total < maximum, favoured === peer || !isNeededElsewhere(by: peer) {
            favoured = nil
            return true
        }
        if total >= maximum, evictLongestIdle() || giveUpUnclaimedDial() { return true }
        if !wanting.contains(where: { $0 === peer }) { wanting.append(peer) }
        return false
    }

    /// Cancels the oldest dial that no request waits for, to make room for one that a request needs.
    private func giveUpUnclaimedDial() -> Bool {
        guard let oldest = peer(withOldest: \.oldestUnclaimedDial), let begun = oldest.oldestUnclaimedDial else {
            return false
        }
        oldest.cancelUnclaimedDials(begunUntil: begun)
        settleLater(oldest)
        return true
    }

    /// Whether another peer has requests and no connection at all. Then the pool closes a connection that becomes free
    /// here: the others would wait for as long as this peer has something to do.
    private func isNeededElsewhere(by peer: Peer) -> Bool {
        !wanting.isEmpty
            && wanting.contains { $0 !== peer && $0.machine.connections == 0 && !$0.machine.waiters.isEmpty }
    }

    /// Serves the peers without any connection first, with one each; then the others, in order.
    private func settleWanting() {
        guard let maximum = limits.total else { return }
        wanting.removeAll { $0.machine.waiters.isEmpty }
        while total < maximum, !wanting.isEmpty {
            let peer = wanting.remove(at: wanting.firstIndex { $0.machine.connections == 0 } ?? 0)
            favoured = peer
            settle(peer)
            favoured = nil
        }
    }

    package func connected(_ connection: HTTPConnection) {
        idleCount += 1
        let expires = limits.firstExpiry(of: connection, at: loop.now)
        connection.peer.machine.dialSucceeded(connection, expires: expires)
        armReaper(at: expires)
        settleLater(connection.peer)
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
        for peer in peers.values {
            for connection in peer.machine.takeExpired(at: loop.now) { closeIdle(connection) }
            for idle in peer.machine.idle { next = min(next, idle.expires) }
            if let oldest = peer.oldestUnclaimedDial, oldest + limits.unclaimedTime <= loop.now {
                peer.cancelUnclaimedDials(begunUntil: oldest)
            }
            // Settling arms the reaper again for other dials that no request waits for.
            settleLater(peer)
        }
        if next != .distantFuture { armReaper(at: next) }
    }
}
