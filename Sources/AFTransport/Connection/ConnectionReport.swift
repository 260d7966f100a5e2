package import AFLoop
package import AFWire

/// How a connection was made, or was not. The requests it carries share the report.
package final class ConnectionReport: Sendable {
    /// Which connection of its session.
    package let number: Int
    package let dial: DialReport
    package let handshake: HandshakeReport?
    package let remote: SocketAddress?
    package let local: SocketAddress?
    /// `remote` is a proxy.
    package let isProxied: Bool
    /// The head with which the proxy answered `CONNECT`.
    package let tunnelAnswer: ResponseHead?

    /// - Parameter channel: Nil if the connection was not made.
    init(
        number: Int,
        dial: DialReport,
        handshake: HandshakeReport?,
        channel: (any ByteChannel)?,
        isProxied: Bool,
        tunnelAnswer: ResponseHead?
    ) {
        self.number = number
        self.dial = dial
        self.handshake = handshake
        remote = channel?.remoteAddress ?? handshake?.remote ?? dial.connectedAddress
        local = channel?.localAddress ?? handshake?.local
        self.isProxied = isProxied
        self.tunnelAnswer = tunnelAnswer
    }
}

extension DialReport {
    fileprivate var connectedAddress: SocketAddress? { attempts.last { $0.outcome == .connected }?.address }
}

/// Connections of a session tell it what they do, on the loop. There is none unless something records events.
package protocol ConnectionObserver: AnyObject {
    /// - Parameter number: Which connection of the session, from 1.
    func connection(_ number: Int, reported event: TransportEvent)
}

/// What a connection did.
package enum TransportEvent {
    case lookupStarted(host: String)
    case lookupEnded(addresses: Int)
    case connectStarted(addresses: [String])
    case connectEnded(address: String)
    case proxyStarted(proxy: String)
    case proxyEnded
    case tlsStarted(host: String)
    case tlsEnded(HandshakeReport)
    /// The connection to this endpoint was not made.
    case failed(TransferError, Endpoint)
    case closed
}
