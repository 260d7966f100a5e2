package import AFLoop
package import AFWire

/// A proxy that did not lead to the server.
package struct ProxyFailure: Error, Sendable {
    package enum Cause: Sendable {
        case dial(DialFailure, DialReport)
        case handshake(HandshakeFailure)
        case tunnel(TunnelFailure)
        /// It broke off while the connection to the server was being secured through it.
        case dropped
    }

    package let route: ProxyRoute
    package let cause: Cause

    /// The proxy's answer with status 407, which asks for credentials. A client that has them can try again.
    package var challenge: ResponseHead? {
        guard case .tunnel(.refused(let head)) = cause, head.status == 407 else { return nil }
        return head
    }
}
