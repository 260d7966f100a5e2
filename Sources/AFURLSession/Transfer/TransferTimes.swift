import AFLoop
import AFTLS

/// What happened when to one request and its response, on the loop's clock.
struct TransferTimes: Sendable {
    var fetchStarted: LoopInstant
    var dial: DialReport?
    var handshake: HandshakeReport?
    var tlsVersion: TLSVersion?
    var cipherSuite: UInt16 = 0
    var isReused = false
    var requestStarted: LoopInstant?
    var requestEnded: LoopInstant?
    var responseStarted: LoopInstant?
    var responseEnded: LoopInstant?
    var requestHeadBytes: Int64 = 0
    var requestBodyBytes: Int64 = 0
    var responseHeadBytes: Int64 = 0
    var responseBodyBytes: Int64 = 0
    var remote: SocketAddress?
    var local: SocketAddress?
}
