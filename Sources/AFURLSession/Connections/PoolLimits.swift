import AFLoop

/// How many connections a session keeps, and for how long.
struct PoolLimits: Sendable {
    var perHost: Int
    var maximumIdle: Int
    var idleTime: Duration
    var maximumAge: Duration

    /// Until when an idle connection may be used, or nil if it may not be any more.
    func expiry(of connection: HTTPConnection, at now: LoopInstant) -> LoopInstant? {
        var expiry = min(now + idleTime, connection.opened + maximumAge)
        if let hint = connection.keepAliveHint {
            // A second early: a request must not cross the peer's FIN on the way.
            expiry = min(expiry, now + (hint - .seconds(1)))
        }
        return expiry > now ? expiry : nil
    }
}
