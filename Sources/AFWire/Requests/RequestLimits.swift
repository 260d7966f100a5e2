/// The limits that a request sets for itself, as its program says them, and as archives have them.
package struct RequestLimits: Hashable, Sendable, Codable {
    /// Any double, because JSON has no infinity and no NaN.
    package struct Seconds: Hashable, Sendable, Codable {
        private let bits: UInt64

        package init(_ value: Double) { bits = value.bitPattern }

        package var value: Double { Double(bitPattern: bits) }
    }

    /// How long its task may take in all. Nil: as long as the session says.
    package var resourceTimeout: Seconds?
    /// How long it may wait for its turn. Nil: as long as the session says.
    package var queueTimeout: Seconds?
    /// The raw value of a `URLRequest.NetworkServiceType`. Nil: the session's.
    package var serviceType: UInt?
    package var allowsCellular = true
    /// How many bytes of its body are sent in a second. Nil: as many as the network takes.
    package var sendRate: Int?

    package init() {}
}
