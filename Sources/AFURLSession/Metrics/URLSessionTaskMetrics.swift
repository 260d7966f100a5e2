import AFLoop
public import Foundation

/// When each phase of a task happened.
public final class URLSessionTaskMetrics: NSObject, Sendable {
    /// Where a response came from.
    public enum ResourceFetchType: Int, Sendable {
        /// Nowhere: nothing was sent.
        case unknown = 0
        /// A server, or a class of the program.
        case networkLoad = 1
        /// A push of the server. Never: HTTP/1.1 has none.
        case serverPush = 2
        /// The cache.
        case localCache = 3
    }

    /// How a name was looked up.
    public enum DomainResolutionProtocol: Int, Sendable {
        /// Nobody knows: always, since the system looks names up.
        case unknown = 0
        /// DNS over UDP. Never said.
        case udp = 1
        /// DNS over TCP. Never said.
        case tcp = 2
        /// DNS over TLS. Never said.
        case tls = 3
        /// DNS over HTTPS. Never said.
        case https = 4
    }

    /// Whether a server that was given a digest of the password has shown that it knows the password itself.
    public enum ServerProof: Int, Sendable {
        /// It was given none, or said nothing that could be checked.
        case absent = 0
        /// It knows the password.
        case right = 1
        /// It does not know the password, or somebody changed its answer on the way. The response was delivered
        /// nevertheless; credentials for this server are not kept.
        case wrong = 2
    }

    /// One entry for each time a request was sent, or was to be: for each redirect, each answer to a challenge of a
    /// server or proxy, each attempt on another connection, and each response of the cache. In order. None for a task
    /// that was cancelled before it looked for a connection.
    public let transactionMetrics: [URLSessionTaskTransactionMetrics]
    /// From the task's first resumption to its completion.
    public let taskInterval: DateInterval
    /// How many redirects were followed.
    public let redirectCount: Int

    init(
        _ attempts: [ExchangeAttempt],
        redirects: Int,
        started: LoopInstant,
        now: LoopInstant
    ) {
        let clock = WallClock(now: now)
        taskInterval = DateInterval(start: clock.date(of: started), end: clock.date(of: now))
        transactionMetrics = attempts.map { URLSessionTaskTransactionMetrics($0, clock) }
        redirectCount = redirects
        super.init()
    }

    /// Of a task that ended before it could do anything.
    static func withoutRequests() -> URLSessionTaskMetrics {
        let moment = LoopInstant(nanoseconds: 0)
        return URLSessionTaskMetrics([], redirects: 0, started: moment, now: moment)
    }
}
