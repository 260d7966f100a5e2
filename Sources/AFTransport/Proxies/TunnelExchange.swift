package import AFWire

/// A conversation with a proxy until there is a tunnel. Pure: bytes in, bytes out.
package protocol TunnelExchange {
    /// The bytes to send first.
    mutating func begin() -> [UInt8]
    /// Takes all that the proxy has sent.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) -> TunnelStep
    /// The head of what an HTTP proxy answered.
    var answer: ResponseHead? { get }
}

package enum TunnelStep {
    case needsMore
    case send([UInt8])
    /// From here on everything comes from the other end: also the last `surplus` bytes of what the exchange has just
    /// taken, which follow the answer.
    case established(surplus: Int)
    case failed(TunnelFailure)
}
