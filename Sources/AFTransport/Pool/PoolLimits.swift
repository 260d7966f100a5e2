package import AFLoop

/// How many connections a session keeps, and for how long.
package struct PoolLimits: Sendable {
    package var perHost: Int
    package var maximumIdle: Int
    package var idleTime: LoopInterval
    package var maximumAge: LoopInterval
    /// Connections to all peers. Nil: any number.
    package var total: Int?

    package init(
        perHost: Int,
        maximumIdle: Int,
        idleTime: LoopInterval,
        maximumAge: LoopInterval,
        total: Int? = nil
    ) {
        self.perHost = perHost
        self.maximumIdle = maximumIdle
        self.idleTime = idleTime
        self.maximumAge = maximumAge
        self.total = total
    }

    /// A connection just made serves at least the request it was made for, however
    /// short the limits are: otherwise it would be closed and dialled again for ever.
    private static let leastTime = LoopInterval(.seconds(1))
    private static let longestUnclaimed = LoopInterval(.seconds(10))

    /// How long a dial goes on that no request waits for.
    var unclaimedTime: LoopInterval {
        let longest = min(idleTime.nanoseconds, PoolLimits.longestUnclaimed.nanoseconds)
        return longest > PoolLimits.leastTime.nanoseconds ? LoopInterval(.nanoseconds(longest)) : PoolLimits.leastTime
    }

    func firstExpiry(of connection: any HTTPConnection, at now: LoopInstant) -> LoopInstant {
        max(expiry(of: connection, at: now) ?? now, now + PoolLimits.leastTime)
    }

    /// Until when an idle connection may be used, or nil if it may not be any more.
    func expiry(of connection: any HTTPConnection, at now: LoopInstant) -> LoopInstant? {
        var expiry = min(now + idleTime, connection.opened + maximumAge)
        if let hint = connection.keepAliveHint {
            // A second early: a request must not cross the peer's FIN on the way.
            expiry = min(expiry, now + (hint - .seconds(1)))
        }
        return expiry > now ? expiry : nil
    }
}

/// What a session says about its connections.
package struct PoolSettings: Sendable {
    package var limits: PoolLimits
    /// How long a request waits for `100 Continue` before it sends its body without.
    package var continuePatience: LoopInterval
    package var rules: ConnectionRules
    /// How long a request may wait for its turn.
    package var queueInterval: LoopInterval?
    /// How many bytes all connections together receive and send in a second. Nil: as many as they can.
    package var receiveRate: Int?
    package var sendRate: Int?

    package init(
        limits: PoolLimits,
        continuePatience: LoopInterval,
        rules: ConnectionRules,
        queueInterval: LoopInterval?,
        receiveRate: Int?,
        sendRate: Int?
    ) {
        self.limits = limits
        self.continuePatience = continuePatience
        self.rules = rules
        self.queueInterval = queueInterval
        self.receiveRate = receiveRate
        self.sendRate = sendRate
    }
}
