package import AFLoop
package import AFTLS
package import AFWire

/// Why a WebSocket could not be opened, or has ended.
package enum WebSocketFailure: Error, Sendable {
    /// The server answered with this status, and opened no WebSocket.
    case refused(status: Int)
    /// The server answered 101, but not to what was asked.
    case handshake(WebSocketHandshake.Flaw)
    /// The server broke the protocol.
    case violation(WebSocketViolation)
    /// A message is longer than the limit, as it came or unpacked.
    case tooLong(limit: Int)
    /// A compressed message cannot be unpacked.
    case damaged(String)
    case noMemory
    /// The connection ended without a Close frame: 1006 for the caller.
    case cutShort
    /// The connection broke: 1006 as well.
    case channel(SystemCallError)
    case secured(TLSFailure)
    /// The server did not answer a ping in time.
    case noPong(Duration)
    /// The server did not answer our Close frame in time.
    case noClose(Duration)
    /// Nothing can be sent or received any more: the WebSocket was closed in order.
    case closed(WebSocketClose)
    /// A defect of this library, in these words.
    case fault(String)

    /// The code of the Close frame that tells the server; nil if there is nothing to tell.
    var code: UInt16? {
        switch self {
        case .violation(let violation): violation.code
        case .tooLong: WebSocketViolation.tooBig
        case .damaged: WebSocketViolation.invalidPayload
        case .noMemory: WebSocketViolation.internalError
        case .refused, .handshake, .cutShort, .channel, .secured, .noPong, .noClose, .closed, .fault: nil
        }
    }
}
