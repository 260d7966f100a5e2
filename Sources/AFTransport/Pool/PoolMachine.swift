package import AFLoop

/// Something that carries requests: an object, or a value that stands for one.
package protocol PooledConnection {
    var identity: ObjectIdentifier { get }
    /// How many requests it takes at once, as things stand.
    var capacity: Int { get }
    /// How many requests it has.
    var load: Int { get }
    /// Whether a request waits for the answers to those before it. Then only requests that allow it go behind others.
    var answersInOrder: Bool { get }
}

extension PooledConnection where Self: AnyObject {
    package var identity: ObjectIdentifier { ObjectIdentifier(self) }
}

/// Decides which waiting request gets which connection to one peer, and when to
/// dial another. Events in, actions out; it opens and closes nothing itself.
///
/// It counts connections by where they are, and a dial is a connection to be. Together they never exceed `limit`.
///
/// ```
/// none ── dial ──▶ dialing ── dialSucceeded ──▶ idle ── assign ──▶ inUse ── connectionFreed ──▶ idle
/// dialing ── dialFailed, dialRefused, dialCancelled ──▶ none
/// idle ── close, takeIdle, idleConnectionClosed ──▶ none
/// inUse ── connectionLost ──▶ none
/// inUse ── exchangeRetried ──▶ redialing ── redialSucceeded ──▶ inUse
/// redialing ── redialEnded ──▶ none
/// none ── warmUpBegan ──▶ redialing
/// ```
///
/// As with `Heap`, only the methods ask what connections and waiters are.
package struct PoolMachine<Connection, Waiter> {
    package enum Action {
        case assign(Waiter, Connection)
        /// Send the request on a connection in use: it has room, or there can be no other connection.
        case append(Waiter, Connection)
        case dial
        /// More dials are running than requests wait.
        case cancelDial
        /// Its idle time is over.
        case close(Connection)
    }

    package struct Idle {
        package let connection: Connection
        package let expires: LoopInstant
    }

    package var limit: Int
    package private(set) var waiters = WaitQueue<Waiter>()
    /// Longest idle first. The most recently used is taken, so that a burst's surplus grows old and can be closed.
    package private(set) var idle: [Idle] = []
    package private(set) var inUse = 0
    /// Connections in use that may take further requests.
    private var pipelines: [Connection] = []
    package private(set) var dialing = 0
    /// Dials on behalf of one request that must have a fresh connection, or of none that has come yet.
    package private(set) var redialing = 0
    private var surplusDials = 0

    package init(limit: Int) {
        self.limit = max(1, limit)
    }
}

extension PoolMachine where Connection: PooledConnection, Waiter: QueuedWaiter {
    package var isEmpty: Bool { waiters.isEmpty && connections == 0 }
    package var connections: Int { idle.count + inUse + dialing + redialing }

    /// A count below zero would let the pool dial past its limit for ever.
    private func lower(_ count: inout Int) {
        assert(count > 0, "more connections have ended than there were")
        count = max(0, count - 1)
    }

    // MARK: - Events

    package mutating func requestArrived(_ waiter: Waiter, priority: Float) {
        waiters.add(waiter, priority: priority)
    }

    package mutating func priorityChanged(_ waiter: Waiter, priority: Float) {
        waiters.reprioritize(waiter, priority: priority)
    }

    /// A request was cancelled or gave up while it waited.
    package mutating func requestLeft(_ waiter: Waiter) {
        waiters.remove(waiter)
        // A dial to a host that does not answer would otherwise run on, with no request whose timeout could end it.
        surplusDials = unclaimedDials
    }

    package mutating func dialSucceeded(_ connection: Connection, expires: LoopInstant) {
        lower(&dialing)
        surplusDials = min(surplusDials, dialing)
        idle.append(Idle(connection: connection, expires: expires))
    }

    /// Returns the request that fails with the dial, unless enough dials are still under way for all who wait.
    package mutating func dialFailed() -> Waiter? {
        dialCancelled()
        return waiters.count > dialing ? waiters.popFirst() : nil
    }

    /// The same if the delegate of one request said no: no other request fails with it.
    ///
    /// - Parameter waiter: Nil if it has left.
    package mutating func dialRefused(for waiter: Waiter?) -> Waiter? {
        dialCancelled()
        guard waiters.count > dialing, let waiter, waiter.ticket.isWaiting else { return nil }
        waiters.remove(waiter)
        return waiter
    }

    package mutating func dialCancelled() {
        lower(&dialing)
        surplusDials = min(surplusDials, dialing)
    }

    /// How many dials there are that no request waits for.
    package var unclaimedDials: Int { max(0, dialing - waiters.count) }

    /// An exchange failed with its connection, and its request takes the place of both for a dial of its own.
    package mutating func exchangeRetried() {
        lower(&inUse)
        redialing += 1
    }

    package mutating func warmUpBegan() {
        redialing += 1
    }

    package mutating func redialSucceeded() {
        lower(&redialing)
        inUse += 1
    }

    package mutating func redialEnded() {
        lower(&redialing)
    }

    /// An exchange ended and left its connection fit for another.
    package mutating func connectionFreed(_ connection: Connection, expires: LoopInstant) {
        connectionClosed(connection)
        lower(&inUse)
        idle.append(Idle(connection: connection, expires: expires))
    }

    /// An exchange ended and its connection with it.
    package mutating func connectionLost() {
        lower(&inUse)
    }

    /// The connection takes no further requests.
    package mutating func connectionClosed(_ connection: Connection) {
        guard !pipelines.isEmpty else { return }
        pipelines.removeAll { $0.identity == connection.identity }
    }

    /// True if the connection was idle.
    @discardableResult
    package mutating func idleConnectionClosed(_ connection: Connection) -> Bool {
        guard let index = idle.lastIndex(where: { $0.connection.identity == connection.identity }) else { return false }
        idle.remove(at: index)
        return true
    }

    /// Takes out the connections whose idle time is over then, the longest idle first.
    package mutating func takeIdle(expiringUntil latest: LoopInstant, atMost limit: Int = .max) -> [Connection] {
        var taken: [Connection] = []
        idle.removeAll { one in
            guard one.expires <= latest, taken.count < limit else { return false }
            taken.append(one.connection)
            return true
        }
        return taken
    }

    package mutating func takeAllWaiters() -> [Waiter] {
        var all: [Waiter] = []
        while let waiter = waiters.popFirst() { all.append(waiter) }
        return all
    }

    /// The request that is served next.
    package var firstWaiter: Waiter? { waiters.first }

    /// Whether one of the dials under way is for this request, as things stand.
    func isDialling(for waiter: Waiter) -> Bool { waiters.isAmongFirst(dialing, waiter: waiter) }

    // MARK: - Actions

    /// Whether the next action is to dial, if that is allowed.
    package var wantsDial: Bool {
        idle.isEmpty && waiters.count > dialing && connections < limit && roomiest == nil
    }

    /// The connection with the fewest requests of those that have room for another, which waits for no answer there.
    private var roomiest: Connection? {
        guard !pipelines.isEmpty else { return nil }
        return pipelines.filter { !$0.answersInOrder && $0.load < $0.capacity }.min { $0.load < $1.load }
    }

    /// What to do next. Call it until it returns nil.
    ///
    /// - Parameter mayDial: Whether there may be another connection, whatever this peer's limit is.
    package mutating func nextAction(at now: LoopInstant, mayDial: Bool = true) -> Action? {
        if !waiters.isEmpty, let freshest = idle.popLast() {
            guard freshest.expires > now, let waiter = waiters.popFirst() else { return .close(freshest.connection) }
            inUse += 1
            if waiter.mayBePipelined || !freshest.connection.answersInOrder { pipelines.append(freshest.connection) }
            return .assign(waiter, freshest.connection)
        }
        if let connection = roomiest, let waiter = waiters.popFirst() { return .append(waiter, connection) }
        while surplusDials > 0 {
            surplusDials -= 1
            // Unless a request that came in the meantime has taken the dial over.
            if dialing > waiters.count { return .cancelDial }
        }
        if mayDial, wantsDial {
            dialing += 1
            return .dial
        }
        return nextOnUsedConnection()
    }

    private mutating func nextOnUsedConnection() -> Action? {
        guard waiters.count > dialing, !pipelines.isEmpty, let next = waiters.first,
            let connection = pipelines.filter({ $0.takes(next) }).min(by: { $0.load < $1.load }),
            let waiter = waiters.popFirst()
        else { return nil }
        return .append(waiter, connection)
    }
}

extension PooledConnection {
    fileprivate func takes(_ waiter: some QueuedWaiter) -> Bool {
        (waiter.mayBePipelined || !answersInOrder) && load < capacity
    }
}
