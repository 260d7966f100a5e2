package import AFLoop
package import AFWire

/// One place a session talks to: its queue, its connections, those in the making.
package final class Peer: ConnectionAttemptClient {
    package let key: ConnectionKey
    @exclusivity(unchecked) package var machine: PoolMachine<HTTPConnection, Transfer>
    /// The pool settles it at the end of this turn.
    @exclusivity(unchecked) var isUnsettled = false
    /// The rules its connections were made under are over: none serves another request.
    @exclusivity(unchecked) package private(set) var isRetired = false

    private let target: DialTarget
    private let pool: ConnectionPool
    private let platform: Platform
    @exclusivity(unchecked) private var attempts: [ConnectionAttempt] = []
    /// It failed at answering pipelined requests.
    @exclusivity(unchecked) var avoidsPipelining = false
    @exclusivity(unchecked) private var redials: [(attempt: ConnectionAttempt, transfer: Transfer)] = []

    package init(_ key: ConnectionKey, _ target: DialTarget, limit: Int, pool: ConnectionPool, platform: Platform) {
        self.key = key
        self.target = target
        self.pool = pool
        self.platform = platform
        machine = PoolMachine(limit: limit)
    }

    /// The phase of the first attempt under way, which the requests here wait for.
    var attemptPhase: TransferPhase? { attempts.first?.phase }

    /// How far that attempt has come.
    var attemptReport: ConnectionReport? { attempts.first.map { ConnectionReport($0) } }

    /// Whether a connection is being made that this transfer will get, unless others overtake it.
    func isDialling(for transfer: Transfer) -> Bool { machine.isDialling(for: transfer) }

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

    package func dial() {
        let attempt = makeAttempt()
        attempts.append(attempt)
        attempt.start(target)
    }

    /// A fresh connection for one request whose old one turned out to be dead.
    func redial(for transfer: Transfer) -> ConnectionAttempt {
        let attempt = makeAttempt()
        machine.exchangeRetried()
        redials.append((attempt, transfer))
        attempt.start(target)
        return attempt
    }

    func cancelRedial(_ attempt: ConnectionAttempt) {
        attempt.cancel()
        if takeRedial(attempt) != nil { machine.redialEnded() }
        pool.settleLater(self)
    }

    private func takeRedial(_ attempt: ConnectionAttempt) -> Transfer? {
        guard let index = redials.firstIndex(where: { $0.attempt === attempt }) else { return nil }
        return redials.remove(at: index).transfer
    }

    func cancelNewestDial() {
        guard let attempt = attempts.popLast() else { return }
        attempt.cancel()
        machine.dialCancelled()
    }

    func cancelDials() {
        while !attempts.isEmpty { cancelNewestDial() }
    }

    // MARK: - Dials that no request waits for
    //
    // Other connections have served the requests that these dials were for. Later requests may use them, but no
    // deadline of a request would ever end them.

    /// Lets handshakes go on that stopped because no request waited for them.
    func claimDials() {
        for attempt in attempts { attempt.claimed() }
    }

    /// When the first of them was begun; nil if there are none.
    var oldestUnclaimedDial: LoopInstant? { machine.unclaimedDials > 0 ? attempts.first?.begun : nil }

    /// Cancels those that were begun at this time or before.
    func cancelUnclaimedDials(begunUntil latest: LoopInstant) {
        for attempt in attempts.prefix(machine.unclaimedDials) where attempt.begun <= latest {
            attempt.cancel()
            forget(attempt)
            machine.dialCancelled()
        }
    }

    /// Ends what is in the making and returns the requests that waited for it.
    package func retire() -> [Transfer] {
        isRetired = true
        cancelDials()
        let redialing = redials.map(\.transfer)
        for redial in redials {
            redial.attempt.cancel()
            machine.redialEnded()
        }
        redials = []
        return redialing + machine.takeAllWaiters()
    }

    // MARK: - From connections in the making

    package func isAwaited(_ attempt: ConnectionAttempt) -> Bool {
        !machine.waiters.isEmpty || redials.contains { $0.attempt === attempt }
    }

    package func handshakeDelegate(for attempt: ConnectionAttempt) -> (any HandshakeDelegate)? {
        let redial = redials.first { $0.attempt === attempt }
        // Each attempt asks on behalf of another request, as far as there are others: if a delegate says no, only its
        // own request fails.
        let own = machine.waiters.first { waiter in !attempts.contains { $0 !== attempt && $0.asker === waiter } }
        let asker = redial?.transfer ?? own ?? machine.firstWaiter
        attempt.asker = asker
        return asker?.handshakeDelegate
    }

    package func hasAskerLeft(_ attempt: ConnectionAttempt) -> Bool {
        guard let asker = attempt.asker, !redials.contains(where: { $0.attempt === attempt }) else { return false }
        return asker.peer !== self || !asker.ticket.isWaiting
    }

    package func attemptSucceeded(_ attempt: ConnectionAttempt, _ channel: any ByteChannel) {
        let report = ConnectionReport(attempt, channel)
        let connection = HTTPConnection(channel, to: self, in: pool, platform: platform, made: report)
        if let transfer = takeRedial(attempt) {
            machine.redialSucceeded()
            connection.begin(transfer)
        } else {
            forget(attempt)
            guard attempt.wasParked, channel.isReadable else { return pool.connected(connection) }
            // The server has given up while no request waited, so none fails with that.
            connection.close()
            machine.dialCancelled()
            pool.settleLater(self)
        }
    }

    package func attemptFailed(_ attempt: ConnectionAttempt, _ error: TransferError) {
        let report = ConnectionReport(attempt)
        if let transfer = takeRedial(attempt) {
            machine.redialEnded()
            transfer.attemptFailed(error, report)
        } else {
            forget(attempt)
            victim(of: attempt, error)?.attemptFailed(error, report)
        }
        pool.settleLater(self)
    }

    /// The request that fails with an attempt, if one does. The others get attempts of their own.
    private func victim(of attempt: ConnectionAttempt, _ error: TransferError) -> Transfer? {
        if error.isWordOfDelegate, let asker = attempt.asker {
            return machine.dialRefused(for: hasAskerLeft(attempt) ? nil : asker)
        }
        guard attempt.wasParked else { return machine.dialFailed() }
        // The server may have given up while no request waited.
        machine.dialCancelled()
        return nil
    }

    private func forget(_ attempt: ConnectionAttempt) {
        attempts.removeAll { $0 === attempt }
    }
}

/// How a connection was made, or was not. The requests it carries share the report.
package final class ConnectionReport: Sendable {
    /// Which connection of its session.
    package let number: Int
    package let dial: DialReport
    package let handshake: HandshakeReport?
    package let remote: SocketAddress?
    package let local: SocketAddress?
    /// `remote` is a proxy.
    package let isProxied: Bool
    /// The head with which the proxy answered `CONNECT`.
    package let tunnelAnswer: ResponseHead?

    package init(_ attempt: ConnectionAttempt, _ channel: (any ByteChannel)? = nil) {
        number = attempt.number
        dial = attempt.dialReport
        handshake = attempt.handshakeReport
        remote = channel?.remoteAddress ?? handshake?.remote ?? dial.connectedAddress
        isProxied = attempt.isProxied
        tunnelAnswer = attempt.tunnelAnswer
        local = channel?.localAddress ?? handshake?.local
    }
}

extension DialReport {
    fileprivate var connectedAddress: SocketAddress? { attempts.last { $0.outcome == .connected }?.address }
}
