package import AFWire

/// Why there is no tunnel.
package enum TunnelFailure: Error, Sendable {
    /// An HTTP proxy said no, with this head. Its body is not the server's answer, and is not read.
    case refused(ResponseHead)
    /// What came is not HTTP, or too much of it.
    case malformed(HTTP1Error)
    /// What came is not SOCKS 5.
    case violation(String)
    /// A SOCKS proxy said no.
    case reply(SOCKS5Reply)
    /// A SOCKS proxy wants a login by a method that we do not have, or for which we have no credentials.
    case noMethod(hasLogin: Bool)
    /// A SOCKS proxy has rejected our login.
    case loginRejected
    /// The proxy sent more than its answer, where we speak first: the server at the other end has not been told anything
    /// yet, so it is nothing that the server could have said.
    case surplus
    /// The proxy closed the connection before there was a tunnel.
    case closed
    case broken(code: Int32)
}
