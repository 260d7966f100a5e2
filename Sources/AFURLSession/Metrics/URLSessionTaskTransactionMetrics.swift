import AFLoop
import AFWire
public import Foundation

/// When each phase of one request and its response happened.
///
/// A phase that did not happen (no lookup on a reused connection, no response after a failure) has no date, and the end
/// of one that did not end has none. The dates there are never go back, in this order: fetch, lookup, connect, secure
/// connection, end of connect, request, response.
public final class URLSessionTaskTransactionMetrics: NSObject, Sendable {
    /// The request, without what the session adds.
    public let request: URLRequest
    /// The response, if its head arrived.
    public let response: URLResponse?
    /// The interim responses (100, 103 and others) that came before it, in order.
    public let informationalResponses: [HTTPURLResponse]
    /// What an HTTP proxy said when it was asked for the tunnel of this connection: 200, or why there is none. Nil also
    /// if an earlier request had asked.
    public let proxyResponse: HTTPURLResponse?
    /// The fields that came behind a body in chunks, in the order of the wire.
    public var trailerFields: [(name: String, value: String)] { trailers?.fields ?? [] }
    private let trailers: HTTPHeaders?
    /// Where the response came from.
    public let resourceFetchType: URLSessionTaskMetrics.ResourceFetchType
    /// The protocol spoken, as in ALPN. Nil if the response came from the cache, or there is none.
    public let networkProtocolName: String?
    /// An existing connection was used.
    public let isReusedConnection: Bool
    /// The request went through a proxy. The remote address and port are the proxy's.
    public let isProxyConnection: Bool
    /// The task asked for a connection, or the cache for a response.
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
    /// The first byte of the request left, or the cache was asked.
    public let requestStartDate: Date?
    /// The last byte of the request left, at the latest when the response began; or the cache answered.
    public let requestEndDate: Date?
    /// The first byte of the response arrived; not of an interim one.
    public let responseStartDate: Date?
    /// The last byte of the response arrived.
    public let responseEndDate: Date?
    /// Bytes of the request head sent.
    public let countOfRequestHeaderBytesSent: Int64
    /// Bytes of the request body sent, without what a transfer coding adds.
    public let countOfRequestBodyBytesSent: Int64
    /// Bytes of the request body sent. The same as ``countOfRequestBodyBytesSent``: request bodies are not coded.
    public var countOfRequestBodyBytesBeforeEncoding: Int64 { countOfRequestBodyBytesSent }
    /// Bytes of the response head received, interim responses included.
    public let countOfResponseHeaderBytesReceived: Int64
    /// Bytes of the response body received, transfer coding removed.
    public let countOfResponseBodyBytesReceived: Int64
    /// Bytes of the response body delivered, content coding removed.
    public let countOfResponseBodyBytesAfterDecoding: Int64
    /// The peer's address, or the path of a Unix-domain socket.
    public var remoteAddress: String? { remote?.host }
    /// The peer's port.
    public var remotePort: Int? { remote?.port.map(Int.init) }
    /// Our own address.
    public var localAddress: String? { local?.host }
    /// Our own port.
    public var localPort: Int? { local?.port.map(Int.init) }
    private let remote: SocketAddress?
    private let local: SocketAddress?
    /// Whether the server has shown that it knows the password of a Digest authentication.
    public let serverProof: URLSessionTaskMetrics.ServerProof

    /// Always `unknown`: names are looked up by the system, which does not say how.
    public var domainResolutionProtocol: URLSessionTaskMetrics.DomainResolutionProtocol { .unknown }
    /// Always false: what lies behind a network interface is nothing a socket on Linux knows.
    public var isCellular: Bool { false }
    /// Always false: the kernel does not know what a byte costs.
    public var isExpensive: Bool { false }
    /// Always false: Linux has no such mode.
    public var isConstrained: Bool { false }
    /// Always false: connections are made with TCP, of which each has one path.
    public var isMultipath: Bool { false }

    init(_ attempt: ExchangeAttempt, _ clock: WallClock) {
        let times = attempt.times
        let dates = TransactionDates(times, clock)
        let http = attempt.fetchType == .networkLoad ? attempt.response as? HTTPURLResponse : nil
        request = attempt.request
        response = attempt.response
        let place = attempt.sent?.location ?? attempt.request.url
        informationalResponses = Self.responses(times.sideHeads?.interim ?? [], of: place)
        proxyResponse = Self.responses(times.tunnelAnswer.map { [$0] } ?? [], of: place).first
        trailers = times.sideHeads?.trailers
        resourceFetchType = attempt.fetchType
        networkProtocolName = http.map { $0.version == .http10 ? "http/1.0" : "http/1.1" }
        isReusedConnection = times.isReused
        isProxyConnection = times.isProxied
        fetchStartDate = dates.fetchStart
        domainLookupStartDate = dates.lookupStart
        domainLookupEndDate = dates.lookupEnd
        connectStartDate = dates.connectStart
        connectEndDate = dates.connectEnd
        secureConnectionStartDate = dates.secureStart
        secureConnectionEndDate = dates.secureEnd
        negotiatedTLSProtocolVersion = times.tlsVersion.flatMap { tls_protocol_version_t(rawValue: $0.rawValue) }
        negotiatedTLSCipherSuite = tls_ciphersuite_t(rawValue: times.cipherSuite)
        isResumedTLSSession = times.handshake?.isResumed ?? false
        requestStartDate = dates.requestStart
        requestEndDate = dates.requestEnd
        responseStartDate = dates.responseStart
        responseEndDate = dates.responseEnd
        countOfRequestHeaderBytesSent = times.requestHeadBytes
        countOfRequestBodyBytesSent = times.requestBodyBytes
        countOfResponseHeaderBytesReceived = times.responseHeadBytes
        countOfResponseBodyBytesReceived = times.responseBodyBytes
        countOfResponseBodyBytesAfterDecoding = times.bodyBytesAfterDecoding
        remote = times.remote
        local = times.local
        serverProof = .init(attempt.proof)
        super.init()
    }

    private static func responses(_ heads: [ResponseHead], of url: URL?) -> [HTTPURLResponse] {
        guard let url else { return [] }
        return heads.map { HTTPURLResponse(url: url, head: $0) }
    }
}

extension URLSessionTaskMetrics.ServerProof {
    fileprivate init(_ proof: DigestAnswer.Proof) {
        switch proof {
        case .absent: self = .absent
        case .right: self = .right
        case .wrong: self = .wrong
        }
    }
}
