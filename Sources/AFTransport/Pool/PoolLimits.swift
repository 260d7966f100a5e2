import AFLoop

/// How many connections a session keeps, and for how long.
struct PoolLimits: Sendable {
    let perHost: Int
    let maximumIdle: Int
    let idleTime: LoopInterval
    let maximumAge: LoopInterval
    /// Connections to all peers. Nil: any number.
    let total: Int?

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
