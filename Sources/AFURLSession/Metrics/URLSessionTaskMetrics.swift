import AFBase
import AFLoop
import AFTransport
public import Foundation

/// When each phase of a task happened.
public final class URLSessionTaskMetrics: NSObject, Sendable {
    /// Where a response came from.
    @nonexhaustive
    public enum ResourceFetchType: Int, Sendable {
        /// From nowhere: the session sent nothing.
        case unknown = 0
        /// From a server, or from a ``URLProtocol``.
        case networkLoad = 1
        /// From a push of the server. Never: HTTP/1.1 has none.
        case serverPush = 2
        /// From the cache.
        case localCache = 3
    }

    /// The protocol by which the system looked up a name.
    @nonexhaustive
    public enum DomainResolutionProtocol: Int, Sendable {
        /// Not known. Always this one: the system does not say how it looks names up.
        case unknown = 0
        /// DNS over UDP. Never reported.
        case udp = 1
        /// DNS over TCP. Never reported.
        case tcp = 2
        /// DNS over TLS. Never reported.
        case tls = 3
        /// DNS over HTTPS. Never reported.
        case https = 4
    }

    /// Whether a server that got a digest of the password has proved that it knows the password itself.
    @nonexhaustive
    public enum ServerProof: Int, Sendable {
        /// The server got no digest, or its response holds no proof.
        case absent = 0
        /// It knows the password.
        case right = 1
        /// The server does not know the password, or a machine on the way has changed its response. The session
        /// delivers the response nevertheless, and does not keep credentials for this server.
        case wrong = 2
    }

    /// One entry for each time the session sent the request, or was about to: for each redirect, each answer to a
    /// challenge of a server or proxy, each attempt on another connection, and each response of the cache. In order.
    /// Empty for a task that was cancelled before it looked for a connection.
    public var transactionMetrics: [URLSessionTaskTransactionMetrics] {
        (transactions.value ?? transactions.set(Transactions(exchanges: exchanges, clock: clock))).metrics
    }
    /// From the task's first resumption to its completion.
    public var taskInterval: DateInterval { DateInterval(start: clock.date(of: started), end: clock.date(of: ended)) }
    /// How many redirects the task followed.
    public let redirectCount: Int

    // Kept as the loop had it until a program asks: most notifications with metrics have no reader.
    private let exchanges: Exchanges
    private let started: LoopInstant
    private let ended: LoopInstant
    private let clock: WallClock
    private let transactions = OnceReference<Transactions>()

    /// What happened, in the loop's terms. Most tasks have one exchange.
    enum Exchanges: Sendable {
        case one(TransferTimes, WireRequest, URLRequest, URLResponse?)
        case several([ExchangeAttempt])

        var attempts: [ExchangeAttempt] {
            switch self {
            case .one(let times, let sent, let request, let response):
                [
                    ExchangeAttempt(
                        request: request,
                        sent: sent,
                        times: times,
                        fetchType: times.fetchType(response),
                        response: response
                    )
                ]
            case .several(let attempts): attempts
            }
        }
    }

    private final class Transactions: Sendable {
        let metrics: [URLSessionTaskTransactionMetrics]

        init(exchanges: Exchanges, clock: WallClock) {
            metrics = exchanges.attempts.map { URLSessionTaskTransactionMetrics(attempt: $0, clock: clock) }
        }
    }

    init(_ exchanges: Exchanges, redirects: Int, started: LoopInstant, ended: LoopInstant) {
        self.exchanges = exchanges
        self.started = started
        self.ended = ended
        clock = WallClock(now: ended)
        redirectCount = redirects
        super.init()
    }

    /// The requests as they were sent, with what the session has added. Nil for one that the session did not send itself.
    var sentRequests: [(sent: WireRequest?, request: URLRequest)] { exchanges.attempts.map { ($0.sent, $0.request) } }

    /// The metrics of a task that ended before it sent a request.
    static func withoutRequests() -> URLSessionTaskMetrics {
        let moment = LoopInstant(nanoseconds: 0)
        return URLSessionTaskMetrics(.several([]), redirects: 0, started: moment, ended: moment)
    }
}
