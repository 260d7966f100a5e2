import AFLoop

/// One place a session talks to: its queue, its connections, its dials.
final class Peer: DialClient {
    let key: ConnectionKey
    @exclusivity(unchecked) var machine: PoolMachine<HTTPConnection, Transfer>
    /// Waiting for the end of the turn, when the pool will see to it.
    @exclusivity(unchecked) var isUnsettled = false

    private let target: DialTarget
    private let pool: ConnectionPool
    private let world: World
    @exclusivity(unchecked) private var dials: [Dialer] = []
    @exclusivity(unchecked) private var redials: [(dialer: Dialer, transfer: Transfer)] = []

    init(_ key: ConnectionKey, _ target: DialTarget, limit: Int, pool: ConnectionPool, world: World) {
        self.key = key
        self.target = target
        self.pool = pool
        self.world = world
        machine = PoolMachine(limit: limit)
    }

    /// What a request waits for here, if it is not for its turn.
    var dialingPhase: TransferPhase? {
        guard let oldest = dials.first else { return nil }
        return oldest.isResolving ? .resolving : .connecting
    }

    func dial() {
        let dialer = makeDialer()
        dials.append(dialer)
        dialer.start()
    }

    /// A fresh connection for one request whose old one turned out to be dead.
    func redial(for transfer: Transfer) -> Dialer {
        let dialer = makeDialer()
        machine.exchangeRetried()
        redials.append((dialer, transfer))
        dialer.start()
        return dialer
    }

    func cancelRedial(_ dialer: Dialer) {
        dialer.cancel()
        if takeRedial(dialer) != nil { machine.redialEnded() }
        pool.settleLater(self)
    }

    private func makeDialer() -> Dialer {
        Dialer(target, on: world.loop, opener: world.opener, resolver: world.resolver.value, client: self)
    }

    private func takeRedial(_ dialer: Dialer) -> Transfer? {
        guard let index = redials.firstIndex(where: { $0.dialer === dialer }) else { return nil }
        return redials.remove(at: index).transfer
    }

    func cancelNewestDial() {
        guard let dialer = dials.popLast() else { return }
        dialer.cancel()
        machine.dialCancelled()
    }

    func cancelDials() {
        while !dials.isEmpty { cancelNewestDial() }
    }

    func dialSucceeded(_ dial: Dialer, _ channel: any ByteChannel) {
        let connection = HTTPConnection(channel, to: self, in: pool, world: world, dial: dial.report)
        if let transfer = takeRedial(dial) {
            machine.redialSucceeded()
            connection.begin(transfer)
        } else {
            forget(dial)
            pool.connected(connection)
        }
    }

    func dialFailed(_ dial: Dialer, _ failure: DialFailure) {
        if let transfer = takeRedial(dial) {
            machine.redialEnded()
            transfer.dialFailed(failure, dial.report)
        } else {
            forget(dial)
            machine.dialFailed()?.dialFailed(failure, dial.report)
        }
        pool.settleLater(self)
    }

    private func forget(_ dial: Dialer) {
        dials.removeAll { $0 === dial }
    }
}
