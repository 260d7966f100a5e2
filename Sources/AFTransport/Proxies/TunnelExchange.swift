package import AFWire

/// A conversation with a proxy until there is a tunnel. Pure: bytes in, bytes out.
package protocol TunnelExchange {
    /// What is said first.
    mutating func begin() -> [UInt8]
    /// Takes in all of what the proxy said.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) -> TunnelStep
    /// The head of what an HTTP proxy answered.
    var answer: ResponseHead? { get }
}

package enum TunnelStep {
    case needsMore
    case send([UInt8])
    /// From here on everything comes from the other end.
    case established
    case failed(TunnelFailure)
}

/// Why there is no tunnel.
package enum TunnelFailure: Error, Sendable {
    /// An HTTP proxy said no, with this head. Its body is nobody's answer, and is not read.
    case refused(ResponseHead)
    /// What came is not HTTP, or too much of it.
    case malformed(HTTP1Error)
    /// What came is not SOCKS 5.
    case violation(String)
    /// A SOCKS proxy said no.
    case reply(SOCKS5Reply)
    /// A SOCKS proxy wants to know who we are, in a way that we do not know, or were given no words for.
    case noMethod(hasLogin: Bool)
    /// A SOCKS proxy does not know us.
    case loginRejected
    /// It said more than it was asked. The server at the other end has not been told anything yet, so it is
    /// nothing that the server could have said.
    case surplus
    /// It closed the connection before there was a tunnel.
    case closed
    case broken(code: Int32)
}
