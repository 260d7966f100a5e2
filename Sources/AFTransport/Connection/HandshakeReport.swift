package import AFLoop
package import AFTLS

/// When a connection was secured, and how.
package struct HandshakeReport: Sendable {
    package let started: LoopInstant
    package let remote: SocketAddress
    package let local: SocketAddress?
    package var ended: LoopInstant?
    package var version: TLSVersion?
    package var cipherSuite: UInt16 = 0
    package var isResumed = false
    /// What both have agreed to speak, by ALPN. Nil if the server did not choose.
    package var agreedProtocol: ApplicationProtocol?
    /// The handshake asked a delegate.
    package var wasDecidedElsewhere = false
    /// A delegate's word has trusted the server, or shown it a certificate of the client.
    package var followsDelegate = false
    /// The server's chain has passed the standard evaluation.
    package var isChainTrusted = false
    /// What is wrong with the form of the server's root, and was tolerated because the program itself named it.
    package var toleratedFlaws: [AuthorityFlaw] = []
}
