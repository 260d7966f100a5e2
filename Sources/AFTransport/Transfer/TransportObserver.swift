import AFLoop
package import AFWire

/// Connections of a session tell it what they do, on the loop. There is none unless something records events.
package protocol ConnectionObserver: AnyObject {
    /// - Parameter number: Which connection of the session, from 1.
    func connection(_ number: Int, _ event: TransportEvent)
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

/// A transfer tells it what it does, on the loop. There is none unless something records events.
package protocol TransferObserver: AnyObject {
    func acquired(_ connection: ConnectionReport, isReused: Bool)
    func bytesSent(total: Int64)
    func requestSent(headBytes: Int64, bodyBytes: Int64)
    func responseBegan(status: Int, headBytes: Int64)
    func bytesReceived(total: Int64)
    /// The request is sent once more.
    func retried()
}

/// Takes the rest of the body of a response that no client wants any more.
package protocol BodyTap: AnyObject {
    func append(_ bytes: UnsafeRawBufferPointer)
    /// The body is complete.
    func finish()
}
