import AFLoop
public import Foundation

/// When each phase of a task happened.
public final class URLSessionTaskMetrics: Sendable {
    /// Where a response came from.
    public enum ResourceFetchType: Int, Sendable {
        case unknown = 0
        case networkLoad = 1
        case serverPush = 2
        case localCache = 3
    }

    /// One entry for each request that was made.
    public let transactionMetrics: [URLSessionTaskTransactionMetrics]
    /// From the task's first resumption to its completion.
    public let taskInterval: DateInterval
    /// How many redirects were followed.
    public let redirectCount: Int

    init(
        _ transactions: [TransferTimes],
        of task: URLSessionTask,
        response: HTTPURLResponse?,
        started: LoopInstant,
        now: LoopInstant
    ) {
        let clock = WallClock(now: now)
        taskInterval = DateInterval(start: clock.date(of: started), end: clock.date(of: now))
        transactionMetrics = transactions.compactMap { times in
            task.originalRequest.map { URLSessionTaskTransactionMetrics(times, $0, response, clock) }
        }
        redirectCount = 0
    }
}

/// When each phase of one request and its response happened. A phase that did not
/// happen (no lookup on a reused connection, no response after a failure) has no date.
public final class URLSessionTaskTransactionMetrics: Sendable {
    /// The request.
    public let request: URLRequest
    /// The response, if its head arrived.
    public let response: URLResponse?
    /// Where the response came from.
    public let resourceFetchType: URLSessionTaskMetrics.ResourceFetchType
    /// The protocol spoken, as in ALPN.
    public let networkProtocolName: String?
    /// An existing connection was used.
    public let isReusedConnection: Bool
    /// The task asked for a connection.
    public let fetchStartDate: Date?
    /// The name was looked up from here…
    public let domainLookupStartDate: Date?
    /// …to here.
    public let domainLookupEndDate: Date?
    /// The connection was made from here…
    public let connectStartDate: Date?
    /// …to here; for https until it was secured.
    public let connectEndDate: Date?
    /// The connection was secured from here…
    public let secureConnectionStartDate: Date?
    /// …to here.
    public let secureConnectionEndDate: Date?
    /// The version of TLS that protects the connection.
    public let negotiatedTLSProtocolVersion: tls_protocol_version_t?
    /// The cipher suite that protects the connection.
    public let negotiatedTLSCipherSuite: tls_ciphersuite_t?
    /// The handshake was a short one, with a server known from before.
    public let isResumedTLSSession: Bool
    /// The first byte of the request left.
    public let requestStartDate: Date?
    /// The last byte of the request left.
    public let requestEndDate: Date?
    /// The first byte of the response arrived.
    public let responseStartDate: Date?
    /// The last byte of the response arrived.
    public let responseEndDate: Date?
    /// Bytes of the request head sent.
    public let countOfRequestHeaderBytesSent: Int64
    /// Bytes of the request body sent.
    public let countOfRequestBodyBytesSent: Int64
    /// Bytes of the response head received, interim responses included.
    public let countOfResponseHeaderBytesReceived: Int64
    /// Bytes of the response body received, transfer coding removed.
    public let countOfResponseBodyBytesReceived: Int64
    /// The peer's address, or the path of a Unix-domain socket.
    public let remoteAddress: String?
    /// The peer's port.
    public let remotePort: Int?
    /// Our own address.
    public let localAddress: String?
    /// Our own port.
    public let localPort: Int?

    init(_ times: TransferTimes, _ request: URLRequest, _ response: HTTPURLResponse?, _ clock: WallClock) {
        self.request = request
        self.response = response
        resourceFetchType = times.requestStarted == nil ? .unknown : .networkLoad
        networkProtocolName = response.map { $0.version == .http10 ? "http/1.0" : "http/1.1" }
        isReusedConnection = times.isReused
        fetchStartDate = clock.date(of: times.fetchStarted)
        domainLookupStartDate = clock.date(ofPhase: times.dial?.resolveStarted)
        domainLookupEndDate = clock.date(ofPhase: times.dial?.resolveEnded)
        connectStartDate = clock.date(ofPhase: times.dial?.connectStarted)
        connectEndDate = clock.date(ofPhase: times.handshake?.ended ?? times.dial?.connectEnded)
        secureConnectionStartDate = clock.date(ofPhase: times.handshake?.started)
        secureConnectionEndDate = clock.date(ofPhase: times.handshake?.ended)
        negotiatedTLSProtocolVersion = times.tlsVersion.flatMap { tls_protocol_version_t(rawValue: $0.rawValue) }
        negotiatedTLSCipherSuite = tls_ciphersuite_t(rawValue: times.cipherSuite)
        isResumedTLSSession = times.handshake?.isResumed ?? false
        requestStartDate = clock.date(ofPhase: times.requestStarted)
        requestEndDate = clock.date(ofPhase: times.requestEnded)
        responseStartDate = clock.date(ofPhase: times.responseStarted)
        responseEndDate = clock.date(ofPhase: times.responseEnded)
        countOfRequestHeaderBytesSent = times.requestHeadBytes
        countOfRequestBodyBytesSent = times.requestBodyBytes
        countOfResponseHeaderBytesReceived = times.responseHeadBytes
        countOfResponseBodyBytesReceived = times.responseBodyBytes
        remoteAddress = times.remote?.host
        remotePort = times.remote?.port.map(Int.init)
        localAddress = times.local?.host
        localPort = times.local?.port.map(Int.init)
    }
}

/// Turns moments of the loop's clock into dates.
struct WallClock {
    private let now: LoopInstant
    private let date = Date()

    init(now: LoopInstant) {
        self.now = now
    }

    func date(of instant: LoopInstant) -> Date {
        date.addingTimeInterval(-Double(instant.duration(to: now).saturatingNanoseconds) / 1e9)
    }

    func date(ofPhase instant: LoopInstant?) -> Date? {
        instant.map(date(of:))
    }
}
