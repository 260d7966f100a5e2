import AFBase
import AFLoop

/// A request as the pool knows it.
protocol PoolClient: ExchangeClient, DepartureRules {
    var key: ConnectionKey { get }
    var ticket: WaitTicket { get set }
    /// Where it waits, or has its connection. Nil before.
    var host: HostPool? { get set }
    /// The delegate that the handshake may ask about the server, if there is one.
    var handshakeDelegate: (any HandshakeDelegate)? { get }
    /// The connection that was made for it has failed.
    func attemptFailed(_ error: TransferError, report: ConnectionReport)
    /// The rules forbid its connection, which would be without TLS.
    func connectionForbidden()
    /// The rules have changed, and it has no connection: it waits again under those that hold now.
    func rulesChanged()
}

/// The pool of one host: its queue, its connections, those in the making. It performs what its `PoolMachine` decides,
/// and nothing else drives that.
final class HostPool: ConnectionAttemptClient, ConnectionOwner {
    private struct Waiter: QueuedWaiter {
        let client: any PoolClient

        var ticket: WaitTicket {
            get { client.ticket }
            nonmutating set { client.ticket = newValue }
        }
        var mayBePipelined: Bool { client.mayBePipelined }
    }

    private struct Held: PooledConnection {
        let connection: any HTTPConnection

        var identity: ObjectIdentifier { ObjectIdentifier(connection) }
        var capacity: Int { connection.capacity }
        var load: Int { connection.load }
        var answersInOrder: Bool { connection.answersInOrder }
    }

    /// A connection in the making.
    private final class Dial: HandshakeAsker {
        enum Purpose {
            /// It is for the first request that waits.
            case queue
            /// It takes the place of this request's dead connection.
            case request(any PoolClient)
            /// No request wants it yet.
            case warmUp(any WarmUp)
        }

        let attempt: ConnectionAttempt
        private let purpose: Purpose
        /// The request whose delegate was asked about the server.
        private(set) var asker: (any PoolClient)?
        private let host: HostPool

        init(_ attempt: ConnectionAttempt, of host: HostPool, for purpose: Purpose) {
            self.attempt = attempt
            self.host = host
            self.purpose = purpose
            attempt.asker = self
        }

        var client: (any PoolClient)? { if case .request(let client) = purpose { client } else { nil } }
        var warmUp: (any WarmUp)? { if case .warmUp(let warmUp) = purpose { warmUp } else { nil } }

        var isAwaited: Bool { if case .queue = purpose { host.hasWaiters } else { true } }

        func chooseDelegate() -> (any HandshakeDelegate)? {
            switch purpose {
            case .request(let client): return client.handshakeDelegate
            case .warmUp(let warmUp): return warmUp.handshakeDelegate
            case .queue: break
            }
            // Each attempt asks on behalf of another request, as far as there are others: if a delegate says no, only
            // its own request fails.
            let own = host.machine.waiters.first { waiter in
                !host.dials.contains { $0 !== self && $0.asker === waiter.client }
            }
            asker = (own ?? host.machine.firstWaiter)?.client
            return asker?.handshakeDelegate
        }

        var hasLeft: Bool {
            guard let asker else { return false }
            return asker.host !== host || !asker.ticket.isWaiting
        }
    }

    let key: ConnectionKey
    /// The pool has made it after those with smaller numbers.
    let number: Int
    private let target: DialTarget
    private let pool: ConnectionPool
    private let platform: Platform
    @exclusivity(unchecked) private var storedMachine: PoolMachine<Held, Waiter>
    /// Where the pool keeps it among others, while it does.
    @exclusivity(unchecked) var restingPlace: HeapPlace?
    @exclusivity(unchecked) var unclaimedPlace: HeapPlace?
    @exclusivity(unchecked) var wantingPlace: HeapPlace?
    /// The pool settles it at the end of this turn.
    @exclusivity(unchecked) var isUnsettled = false
    /// The rules its connections were made under are over: none serves another request.
    @exclusivity(unchecked) private(set) var isRetired = false
    /// Connections that do not count any more.
    @exclusivity(unchecked) private var exempt: Set<ObjectIdentifier> = []
    /// When a request last got a connection here.
    @exclusivity(unchecked) private var ownTurn: LoopInstant?
    @exclusivity(unchecked) private var dials: [Dial] = []
    @exclusivity(unchecked) private var redials: [Dial] = []
    @exclusivity(unchecked) private var warmUps: [any WarmUp] = []
    @exclusivity(unchecked) var avoidsPipelining: Bool {
        didSet { if avoidsPipelining { pool.avoidPipelining(to: key.endpoint) } }
    }

    init(
        key: ConnectionKey,
        target: DialTarget,
        number: Int,
        limit: Int,
        avoidsPipelining: Bool,
        pool: ConnectionPool,
        platform: Platform
    ) {
        self.key = key
        self.target = target
        self.number = number
        self.pool = pool
        self.platform = platform
        self.avoidsPipelining = avoidsPipelining
        storedMachine = PoolMachine(limit: limit)
    }

    /// Whatever happens to it, the pool hears of: it counts for all hosts together.
    private var machine: PoolMachine<Held, Waiter> {
        _read { yield storedMachine }
        _modify {
            let former = census
            defer { pool.hostChanged(self, from: former) }
            yield &storedMachine
        }
    }

    // MARK: - Requests

    func enqueue(_ client: any PoolClient, priority: Float) {
        client.host = self
        machine.requestArrived(Waiter(client: client), priority: priority)
        pool.settleLater(self)
    }

    func withdraw(_ client: any PoolClient) {
        machine.requestLeft(Waiter(client: client))
        pool.settleLater(self)
    }

    func changePriority(of client: any PoolClient, to priority: Float) {
        machine.priorityChanged(Waiter(client: client), priority: priority)
    }

    /// A request has left that waited, between two connections, for its body, or for other rules.
    func leftBetweenConnections() {
        machine.connectionLost()
        pool.settleLater(self)
    }

    /// Ends what is in the making and returns the requests that waited for it.
    func retire() -> [any PoolClient] {
        isRetired = true
        cancelDials()
        let redialing = redials.compactMap(\.client)
        for redial in redials {
            redial.attempt.cancel()
            machine.redialEnded()
        }
        redials = []
        return redialing + machine.takeAllWaiters().map(\.client)
    }

    /// When a request last got a connection: at any host, if others have all connections.
    var lastTurn: LoopInstant? { isDestitute ? pool.lastTurn : ownTurn }

    func queueReport(holders: [Int], isQueueTime: Bool) -> QueueReport {
        QueueReport(
            holders: holders,
            connections: machine.connections,
            limit: machine.limit,
            isQueueTime: isQueueTime
        )
    }

    // MARK: - What the machine decides

    /// Asked here, since comparing from outside copies the key.
    func serves(_ key: ConnectionKey) -> Bool { self.key == key }

    /// Neither requests nor connections are left.
    var isEmpty: Bool { machine.isEmpty && warmUps.isEmpty }
    var census: PoolCensus { PoolCensus(connections: machine.connections, idle: machine.idle.count) }
    var hasWaiters: Bool { !machine.waiters.isEmpty }
    /// A request waits, and there is no connection at all.
    var isDestitute: Bool { machine.connections == 0 && hasWaiters }

    /// Serves those who wait, as far as that is possible now.
    func settle() {
        var shared: [any HTTPConnection] = []
        let now = platform.loop.now
        var hasServed = false
        while true {
            let mayDial = machine.wantsDial && pool.mayDial(self)
            guard let action = machine.nextAction(at: now, mayDial: mayDial) else { break }
            switch consume action {
            case .assign(let waiter, let held):
                hasServed = true
                held.connection.begin(waiter.client)
            case .append(let waiter, let held):
                hasServed = true
                held.connection.append(waiter.client)
                if !shared.contains(where: { $0 === held.connection }) { shared.append(held.connection) }
            case .dial: dial()
            case .cancelDial: cancelNewestDial()
            case .close(let held): held.connection.close()
            }
        }
        if hasServed { (ownTurn, pool.lastTurn) = (now, now) }
        for connection in shared { connection.sendAppended() }
        if hasWaiters { claimDials() }
        if !warmUps.isEmpty { settleWarmUps(afterUse: hasServed) }
    }

    // MARK: - Idle connections

    /// When the first of them may not be used any more.
    var firstExpiry: LoopInstant? { machine.idle.lazy.map(\.expires).min() }

    /// Closes those whose time is over then, the longest idle first.
    func closeIdle(expiringUntil latest: LoopInstant, atMost limit: Int = .max) {
        for held in machine.takeIdle(expiringUntil: latest, atMost: limit) { held.connection.close() }
    }

    func closeAllIdle() {
        closeIdle(expiringUntil: .distantFuture)
    }

    // MARK: - From connections

    func isCurrent(_ connection: any HTTPConnection) -> Bool { !isRetired && connection.generation == pool.generation }

    func mayTakeMore(_ connection: any HTTPConnection) -> Bool {
        isCurrent(connection) && pool.limits.expiry(of: connection, at: platform.loop.now) != nil
    }

    var toleratesMissingCloseNotify: Bool {
        (key.security ?? key.proxySecurity)?.configuration.toleratesMissingCloseNotify ?? true
    }

    /// Its response goes on for as long as the server likes. Its connection takes no place from others any more, and
    /// serves no other request.
    func exempt(_ connection: any HTTPConnection) {
        guard exempt.insert(ObjectIdentifier(connection)).inserted else { return }
        machine.connectionClosed(Held(connection: connection))
        leftBetweenConnections()
    }

    private func takeExempt(_ connection: any HTTPConnection) -> Bool {
        !exempt.isEmpty && exempt.remove(ObjectIdentifier(connection)) != nil
    }

    func exchangeEnded(on connection: any HTTPConnection, mayReuse: Bool) {
        if takeExempt(connection) { return connection.close() }
        if mayReuse, isCurrent(connection), key.route?.servesOnce != true, !pool.isNeededElsewhere(by: self),
            let expires = pool.limits.expiry(of: connection, at: platform.loop.now)
        {
            connection.rest()
            machine.connectionFreed(Held(connection: connection), expires: expires)
            pool.idleConnectionCame(to: self, until: expires)
            pool.closeSurplusIdle()
        } else {
            machine.connectionLost()
            connection.close()
        }
        pool.settleLater(self)
    }

    func connectionHasRoom() {
        pool.settleLater(self)
    }

    func idleConnectionEnded(_ connection: any HTTPConnection) {
        machine.idleConnectionClosed(Held(connection: connection))
        connection.close()
        pool.settleLater(self)
    }

    func connectionClosed(_ connection: any HTTPConnection) {
        pool.observer?.connection(connection.made.number, reported: .closed)
        machine.connectionClosed(Held(connection: connection))
    }

    func connectionLeft(_ connection: any HTTPConnection) {
        if takeExempt(connection) { return }
        machine.connectionClosed(Held(connection: connection))
        leftBetweenConnections()
    }

    // MARK: - Dials

    /// The phase of the first attempt under way, which the requests here wait for.
    var attemptPhase: TransferPhase? { dials.first?.attempt.phase }

    /// How far that attempt has come.
    var attemptReport: ConnectionReport? { dials.first?.attempt.report() }

    /// Whether a connection is being made that this request will get, unless others overtake it.
    func isDialling(for client: any PoolClient) -> Bool { machine.isDialling(for: Waiter(client: client)) }

    private func makeAttempt() -> ConnectionAttempt {
        ConnectionAttempt(
            to: key,
            under: pool.rules,
            number: pool.nextNumber(),
            platform: platform,
            observer: pool.observer,
            client: self
        )
    }

    private func dial() {
        let attempt = makeAttempt()
        dials.append(Dial(attempt, of: self, for: .queue))
        attempt.start(target)
    }

    /// A fresh connection for one request whose old one turned out to be dead.
    func redial(for client: any PoolClient) -> ConnectionAttempt {
        machine.exchangeRetried()
        return redial(for: .request(client))
    }

    @discardableResult
    private func redial(for purpose: Dial.Purpose) -> ConnectionAttempt {
        let attempt = makeAttempt()
        redials.append(Dial(attempt, of: self, for: purpose))
        attempt.start(target)
        return attempt
    }

    func cancelRedial(_ attempt: ConnectionAttempt) {
        attempt.cancel()
        if takeRedial(attempt) != nil { machine.redialEnded() }
        pool.settleLater(self)
    }

    private func takeRedial(_ attempt: ConnectionAttempt) -> Dial? {
        redials.firstIndex { $0.attempt === attempt }.map { redials.remove(at: $0) }
    }

    private func cancelNewestDial() {
        guard let dial = dials.popLast() else { return }
        dial.attempt.cancel()
        machine.dialCancelled()
    }

    func cancelDials() {
        while !dials.isEmpty { cancelNewestDial() }
    }

    private func takeDial(_ attempt: ConnectionAttempt) -> Dial? {
        dials.firstIndex { $0.attempt === attempt }.map { dials.remove(at: $0) }
    }

    // MARK: - Dials that no request waits for
    //
    // Other connections have served the requests that these dials were for. Later requests may use them, but no
    // deadline of a request would ever end them.

    /// Lets handshakes go on that stopped because no request waited for them.
    private func claimDials() {
        for dial in dials { dial.attempt.claimed() }
    }

    /// When the first of them was begun; nil if there are none.
    var oldestUnclaimedDial: LoopInstant? { machine.unclaimedDials > 0 ? dials.first?.attempt.begun : nil }

    /// Cancels those that were begun at this time or before.
    func cancelUnclaimedDials(begunUntil latest: LoopInstant) {
        for dial in dials.prefix(machine.unclaimedDials) where dial.attempt.begun <= latest {
            dial.attempt.cancel()
            _ = takeDial(dial.attempt)
            machine.dialCancelled()
        }
    }

    // MARK: - Dials before requests come

    func add(_ warmUp: any WarmUp) {
        warmUps.append(warmUp)
        pool.settleLater(self)
    }

    /// Gives up what is being made for them.
    func takeWarmUps(where isMeant: (any WarmUp) -> Bool) -> [any WarmUp] {
        for dial in redials where dial.warmUp.map(isMeant) == true { cancelRedial(dial.attempt) }
        defer { warmUps.removeAll(where: isMeant) }
        pool.settleLater(self)
        return warmUps.filter(isMeant)
    }

    private func settleWarmUps(afterUse: Bool) {
        for warmUp in warmUps {
            var (idle, dialing) = (machine.idle.count, redials.count { $0.warmUp != nil })
            if idle + dialing < warmUp.count, warmUp.mayDial(afterUse: afterUse) {
                while idle + dialing < warmUp.count, machine.connections < machine.limit, pool.mayWarmUp {
                    machine.warmUpBegan()
                    redial(for: .warmUp(warmUp))
                    dialing += 1
                }
            }
            idle = machine.idle.count
            if idle >= warmUp.count || dialing == 0 { warmUp.isWarm(idle: idle) }
        }
    }

    /// Asks first, as before a request leaves: that applies the rules of this moment, and may retire this host.
    private func rest(_ connection: any HTTPConnection, on channel: any ByteChannel, for warmUp: any WarmUp) {
        let isForbidden = warmUp.forbidsTunnel(to: key.endpoint)
        exchangeEnded(on: connection, mayReuse: !isForbidden)
        // What came before the connection had the channel is no news to that: the server may have closed it already.
        if channel.isReadable { channel.continueNextTurn() }
        if isForbidden { warmUp.stopped(by: nil) }
    }

    // MARK: - From connections in the making

    func depart(_ attempt: ConnectionAttempt) throws(Refusal) -> Permit {
        let own = redials.first { $0.attempt === attempt }
        do throws(Refusal) {
            let sender: (any DepartureRules)? = own?.client ?? own?.warmUp ?? machine.firstWaiter?.client
            guard let sender else { throw .ended }
            let isOpen = key.security == nil
            return try Departure.ask(isSuspended: false, isForbidden: isOpen && sender.forbidsTunnel(to: key.endpoint))
                .clear(hasItsRules: !isRetired)
        } catch {
            drop(attempt)
            if let warmUp = own?.warmUp {
                cancelRedial(attempt)
                warmUp.stopped(by: nil)
            } else if error == .clearText {
                own?.client?.connectionForbidden()
                for waiter in machine.takeAllWaiters() { waiter.client.connectionForbidden() }
            }
            throw error
        }
    }

    private func drop(_ attempt: ConnectionAttempt) {
        guard takeDial(attempt) != nil else { return }
        attempt.cancel()
        machine.dialCancelled()
        pool.settleLater(self)
    }

    var serverMaySpeakFirst: Bool { false }

    func attemptSucceeded(_ attempt: ConnectionAttempt, channel: any ByteChannel) {
        let connection = pool.makeConnection(on: channel, report: attempt.report(with: channel), of: self)
        if let own = takeRedial(attempt) {
            machine.redialSucceeded()
            if let warmUp = own.warmUp { return rest(connection, on: channel, for: warmUp) }
            if let client = own.client { return connection.begin(client) }
        }
        _ = takeDial(attempt)
        if attempt.wasParked, channel.isReadable {
            // The server has given up while no request waited, so none fails with that.
            connection.close()
            machine.dialCancelled()
        } else {
            let expires = pool.limits.firstExpiry(of: connection, at: platform.loop.now)
            machine.dialSucceeded(Held(connection: connection), expires: expires)
            pool.idleConnectionCame(to: self, until: expires)
        }
        pool.settleLater(self)
    }

    func attemptFailed(_ attempt: ConnectionAttempt, error: TransferError) {
        if let own = takeRedial(attempt) {
            machine.redialEnded()
            own.client?.attemptFailed(error, report: attempt.report())
            own.warmUp?.stopped(by: error)
        } else if let dial = takeDial(attempt) {
            victim(of: dial, error: error)?.attemptFailed(error, report: attempt.report())
        }
        pool.settleLater(self)
    }

    /// The request that fails with a dial, if one does. The others get dials of their own.
    private func victim(of dial: Dial, error: TransferError) -> (any PoolClient)? {
        if error.isWordOfDelegate, let asker = dial.asker {
            return machine.dialRefused(for: dial.hasLeft ? nil : Waiter(client: asker))?.client
        }
        guard dial.attempt.wasParked else { return machine.dialFailed()?.client }
        // The server may have given up while no request waited.
        machine.dialCancelled()
        return nil
    }
}
