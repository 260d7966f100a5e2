package import AFLoop
package import AFTLS
package import AFWire

/// What happened when to one request and its response, on the loop's clock.
package struct TransferTimes: Sendable {
    package let fetchStarted: LoopInstant
    /// It began to wait for a connection.
    package var queueStarted: LoopInstant
    /// The connection, also if it was not made.
    package var connection: ConnectionReport?
    /// Interim responses and trailers.
    package var sideHeads: SideHeads?
    package var requestStarted: LoopInstant?
    package var requestEnded: LoopInstant?
    package var responseStarted: LoopInstant?
    package var responseEnded: LoopInstant?
    package var isReused = false
    package var requestHeadBytes: Int64 = 0
    package var requestBodyBytes: Int64 = 0
    /// The same before a coding made them fewer.
    package var requestContentBytes: Int64 = 0
    package var responseHeadBytes: Int64 = 0
    package var responseBodyBytes: Int64 = 0
    /// 0 if the body had no coding to undo.
    package var decodedBodyBytes: Int64 = 0

    package var bodyBytesAfterDecoding: Int64 { decodedBodyBytes > 0 ? decodedBodyBytes : responseBodyBytes }

    package init(fetchStarted: LoopInstant) {
        self.fetchStarted = fetchStarted
        queueStarted = fetchStarted
    }

    /// The times of a response from the cache.
    package init(servedFromCacheAt now: LoopInstant, asked: LoopInstant) {
        self.init(fetchStarted: asked)
        requestStarted = asked
        requestEnded = now
        responseStarted = now
        responseEnded = now
    }

    /// Nil if the connection was made for another request.
    package var dial: DialReport? { isReused ? nil : connection?.dial }
    package var tunnelAnswer: ResponseHead? { isReused ? nil : connection?.tunnelAnswer }
    /// The heads in front of that of the response: the answer of a proxy to `CONNECT`, and interim ones.
    package var precedingHeads: [ResponseHead] {
        guard sideHeads != nil || connection?.tunnelAnswer != nil else { return [] }
        return [tunnelAnswer].compactMap(\.self) + (sideHeads?.interim ?? [])
    }
    package var handshake: HandshakeReport? { isReused ? nil : connection?.handshake }

    package var tlsVersion: TLSVersion? { connection?.handshake?.version }
    package var cipherSuite: UInt16 { connection?.handshake?.cipherSuite ?? 0 }
    package var isProxied: Bool { connection?.isProxied ?? false }
    package var remote: SocketAddress? { connection?.remote }
    package var local: SocketAddress? { connection?.local }
}
