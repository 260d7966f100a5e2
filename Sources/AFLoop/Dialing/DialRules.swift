/// What a dial has to keep to.
package struct DialRules: Sendable {
    /// Asked about each address right before it is tried, on the loop. Nil: each may be.
    package var allows: (@Sendable (SocketAddress) -> Bool)?
    /// How long one address may take to answer. Nil: as long as the dial goes on.
    package var attemptLimit: LoopInterval?
    package var options = SocketOptions()

    package init() {}
}

/// How a connection is made, and how the network is to treat it.
package struct SocketOptions: Sendable, Hashable {
    /// The traffic class of its packets (RFC 2474): a code point, shifted by two bits. 0 is none.
    package var trafficClass: UInt8 = 0
    /// Its place in the queues of this machine (`SO_PRIORITY`), from 0 to 6.
    package var priority: UInt8 = 0
    /// It is not made if the way to its address is by a cellular network.
    package var avoidsCellular = false

    package init() {}
}
