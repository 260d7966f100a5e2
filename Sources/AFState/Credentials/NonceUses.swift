/// How often one nonce of one party was used, with any credential in any task: no count may come twice (RFC 7616 §3.4).
package final class NonceUses {
    package let nonce: [UInt8]
    var count: UInt32 = 0

    package init(_ nonce: [UInt8]) {
        self.nonce = nonce
    }

    /// The number of the next use; nil after four thousand million uses.
    package func next() -> UInt32? {
        guard count < .max else { return nil }
        count += 1
        return count
    }
}
