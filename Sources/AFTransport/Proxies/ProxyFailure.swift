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

    /// What the proxy answered, if it wants to know who we are: for whoever has credentials and will try again.
    package var challenge: ResponseHead? {
        guard case .tunnel(.refused(let head)) = cause, head.status == 407 else { return nil }
        return head
    }
}
