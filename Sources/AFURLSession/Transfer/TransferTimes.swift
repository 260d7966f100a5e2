import AFLoop
import AFTLS

/// What happened when to one request and its response, on the loop's clock.
struct TransferTimes: Sendable {
    var fetchStarted: LoopInstant
    /// The connection, also if it came to nothing.
    var connection: ConnectionReport?
    var isReused = false
    var requestStarted: LoopInstant?
    var requestEnded: LoopInstant?
    var responseStarted: LoopInstant?
    var responseEnded: LoopInstant?
    var requestHeadBytes: Int64 = 0
    var requestBodyBytes: Int64 = 0
    var responseHeadBytes: Int64 = 0
    var responseBodyBytes: Int64 = 0

    /// Nil if another request had paid for the connection.
    var dial: DialReport? { isReused ? nil : connection?.dial }
    var handshake: HandshakeReport? { isReused ? nil : connection?.handshake }

    var tlsVersion: TLSVersion? { connection?.handshake?.version }
    var cipherSuite: UInt16 { connection?.handshake?.cipherSuite ?? 0 }
    var remote: SocketAddress? { connection?.remote }
    var local: SocketAddress? { connection?.local }
}
