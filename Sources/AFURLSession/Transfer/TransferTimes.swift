import AFLoop
import AFTLS
import AFWire

/// What happened when to one request and its response, on the loop's clock.
struct TransferTimes: Sendable {
    let fetchStarted: LoopInstant
    /// It began to wait for a connection.
    var queueStarted: LoopInstant
    /// The connection, also if it came to nothing.
    var connection: ConnectionReport?
    /// Interim responses and trailers.
    var sideHeads: SideHeads?
    var requestStarted: LoopInstant?
    var requestEnded: LoopInstant?
    var responseStarted: LoopInstant?
    var responseEnded: LoopInstant?
    var isReused = false
    var requestHeadBytes: Int64 = 0
    var requestBodyBytes: Int64 = 0
    var responseHeadBytes: Int64 = 0
    var responseBodyBytes: Int64 = 0
    /// 0 if the body had no coding to undo.
    var decodedBodyBytes: Int64 = 0

    var bodyBytesAfterDecoding: Int64 { decodedBodyBytes > 0 ? decodedBodyBytes : responseBodyBytes }

    init(fetchStarted: LoopInstant) {
        self.fetchStarted = fetchStarted
        queueStarted = fetchStarted
    }

    /// Of a response that the cache had.
    init(servedFromCacheAt now: LoopInstant, asked: LoopInstant) {
        self.init(fetchStarted: asked)
        requestStarted = asked
        requestEnded = now
        responseStarted = now
        responseEnded = now
    }

    /// Nil if another request had paid for the connection.
    var dial: DialReport? { isReused ? nil : connection?.dial }
    var tunnelAnswer: ResponseHead? { isReused ? nil : connection?.tunnelAnswer }
    var handshake: HandshakeReport? { isReused ? nil : connection?.handshake }

    var tlsVersion: TLSVersion? { connection?.handshake?.version }
    var cipherSuite: UInt16 { connection?.handshake?.cipherSuite ?? 0 }
    var isProxied: Bool { connection?.isProxied ?? false }
    var remote: SocketAddress? { connection?.remote }
    var local: SocketAddress? { connection?.local }
}
