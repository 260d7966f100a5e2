package import AFLoop
package import AFTLS
package import AFWire

/// Why a transfer ended without a response, or in the middle of one.
package enum TransferError: Error, Sendable {
    /// The body could not be sent, or not as it was announced.
    case body(BodyFailure)
    case impossibleSocketPath
    case dial(DialFailure, DialReport)
    /// The proxy did not lead to the server.
    case proxy(ProxyFailure)
    /// The connection could not be secured.
    case handshake(HandshakeFailure)
    /// A secured connection broke above the socket.
    case secured(TLSFailure, TransferPhase, Identification)
    /// The end of the connection ended the body, and no `close_notify` said that it was complete.
    case cutShort
    /// The peer's message broke a rule, or broke off.
    case wire(HTTP1Error)
    /// The connection failed under us.
    case channel(SystemCallError, TransferPhase)
    /// Nothing happened for this long.
    case timedOut(TransferPhase, Duration)
    /// The whole task took longer than it may.
    case outOfTime(TransferPhase)
    /// No connection became free for it in this time.
    case unserved(QueueReport, Duration)
    /// One part of it took this long, which was too long.
    case overdue(NamedTimeout, TransferPhase, Duration)
    /// An order of events that the machine of the transfer does not know: a defect of this library.
    case fault(String)

    /// Whether a peer asked who we are, and learned it.
    package enum Identification: Sendable {
        case notAsked
        case withheld
        case shown
    }
}

/// The timeouts that parts of a load may have.
package enum NamedTimeout: Sendable {
    case connect, tls
}

extension TransferError {
    /// A delegate refused the connection, or did not answer in time.
    var isWordOfDelegate: Bool {
        guard case .handshake(let failure) = self else { return false }
        switch failure.cause {
        case .refused(.rejected), .refused(.unanswered), .refused(.cancelled), .identityCancelled: return true
        case .refused(.evaluation), .refused(.rule), .refused(.noAnchors), .tls, .broken: return false
        }
    }

    /// The task as a whole has no time left.
    package var isOutOfTime: Bool { if case .outOfTime = self { true } else { false } }
}
