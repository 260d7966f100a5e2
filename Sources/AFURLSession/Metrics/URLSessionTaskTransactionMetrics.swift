import AFLoop
import AFState
public import AFTLS
import AFWire
public import Foundation

/// When each phase of one request and its response happened.
///
/// A phase that did not happen (no lookup on a reused connection, no response after a failure) has no date, and one
/// that did not end has no end date. The dates never go back, in this order: fetch, lookup, connect, secure connection,
/// end of connect, request, response.
public final class URLSessionTaskTransactionMetrics: NSObject, Sendable {
    /// The request, without what the session adds.
    public let request: URLRequest
    /// The response, if its head arrived.
    public let response: URLResponse?
    /// The interim responses (100, 103 and others) that came before it, in order.
    public let informationalResponses: [HTTPURLResponse]
    /// The response of an HTTP proxy to the request for this connection's tunnel: 200, or why there is none. Nil also
    /// if the tunnel was made for an earlier request.
    public let proxyResponse: HTTPURLResponse?
    /// The trailer fields behind a chunked body, in the order of the wire.
    public var trailerFields: [(name: String, value: String)] { trailers?.fields ?? [] }
    private let trailers: HTTPHeaders?
    /// Where the response came from.
    public let resourceFetchType: URLSessionTaskMetrics.ResourceFetchType
    /// The protocol of the connection, as in ALPN. Nil if the response came from the cache, or there is none.
    public let networkProtocolName: String?
    /// Whether the session reused a connection.
    public let isReusedConnection: Bool
    /// Whether the request went through a proxy. Then the remote address and port are the proxy's.
    public let isProxyConnection: Bool
    /// When the task asked for a connection, or the cache for a response.
    public let fetchStartDate: Date?
    /// When the lookup of the name began.
    public let domainLookupStartDate: Date?
    /// When the lookup of the name ended.
    public let domainLookupEndDate: Date?
    /// When the session began to make the connection.
    public let connectStartDate: Date?
    /// When the connection was made; for https, when its TLS handshake ended.
    public let connectEndDate: Date?
    /// When the TLS handshake began.
    public let secureConnectionStartDate: Date?
    /// When the TLS handshake ended.
    public let secureConnectionEndDate: Date?
    /// The version of TLS that protects the connection.
    public let negotiatedTLSProtocolVersion: tls_protocol_version_t?
    /// The cipher suite that protects the connection.
    public let negotiatedTLSCipherSuite: tls_ciphersuite_t?
    /// Whether the handshake resumed an earlier TLS session with the server.
    public let isResumedTLSSession: Bool
    /// What is wrong with the form of the server's root, and the session tolerated because the program itself named the
    /// root as an anchor. Empty for a reused connection.
    public let toleratedAuthorityFlaws: [AuthorityFlaw]
    /// When the first byte of the request left, or the task asked the cache.
    public let requestStartDate: Date?
    /// When the last byte of the request left, at the latest when the response began; or when the cache answered.
    public let requestEndDate: Date?
    /// When the first byte of the final response arrived.
    public let responseStartDate: Date?
    /// When the last byte of the response arrived.
    public let responseEndDate: Date?
    /// Bytes of the request head sent.
    public let countOfRequestHeaderBytesSent: Int64
    /// Bytes of the request body sent, without what a transfer coding adds.
    public let countOfRequestBodyBytesSent: Int64
    /// Bytes of the request body sent, as they were before ``/AFURLTypes/URLRequest/bodyCoding``.
    public let countOfRequestBodyBytesBeforeEncoding: Int64
    /// Bytes of the response head received, interim responses included.
    public let countOfResponseHeaderBytesReceived: Int64
    /// Bytes of the response body received, transfer coding removed.
    public let countOfResponseBodyBytesReceived: Int64
    /// Bytes of the response body delivered, content coding removed.
    public let countOfResponseBodyBytesAfterDecoding: Int64
    /// The address of the server or proxy, or the path of a Unix-domain socket.
    public var remoteAddress: String? { remote?.host }
    /// The port of the server or proxy.
    public var remotePort: Int? { remote?.port.map(Int.init) }
    /// This machine's address.
    public var localAddress: String? { local?.host }
    /// This machine's port.
    public var localPort: Int? { local?.port.map(Int.init) }
    private let remote: SocketAddress?
    private let local: SocketAddress?
    /// Whether the server has proved that it knows the password of a Digest authentication.
    public let serverProof: URLSessionTaskMetrics.ServerProof

    /// Always `unknown`: the system looks names up, and does not say how.
    public var domainResolutionProtocol: URLSessionTaskMetrics.DomainResolutionProtocol { .unknown }
    /// Always false: a socket on Linux does not know what kind of network its interface leads to.
    public var isCellular: Bool { false }
    /// Always false: the kernel does not know what a byte costs.
    public var isExpensive: Bool { false }
    /// Always false: Linux has no such mode.
    public var isConstrained: Bool { false }
    /// Always false: the session connects with TCP, and each connection has one path.
    public var isMultipath: Bool { false }

    init(attempt: ExchangeAttempt, clock: WallClock) {
        let times = attempt.times
        let dates = TransactionDates(times: times, clock: clock)
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
        toleratedAuthorityFlaws = times.handshake?.toleratedFlaws ?? []
        requestStartDate = dates.requestStart
        requestEndDate = dates.requestEnd
        responseStartDate = dates.responseStart
        responseEndDate = dates.responseEnd
        countOfRequestHeaderBytesSent = times.requestHeadBytes
        countOfRequestBodyBytesSent = times.requestBodyBytes
        countOfRequestBodyBytesBeforeEncoding = times.requestContentBytes
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
