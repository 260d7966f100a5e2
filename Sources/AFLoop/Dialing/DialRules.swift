/// What a dial has to keep to.
package struct DialRules: Sendable {
    /// Asked about each address right before it is tried, on the loop. Nil: each may be.
    package var allows: (@Sendable (SocketAddress) -> Bool)?
    /// How long one address may take to answer. Nil: as long as the dial goes on.
    package var attemptLimit: LoopInterval?
    package var options = SocketOptions()

    package init() {}
}
