/// The IPv4 host to which an IPv6 address leads, in network order.
///
/// The one place that knows such addresses. Rules, filters and lists ask it: another spelling of an address must not lead
/// past what they say of the host.
package enum ReachedIPv4: Hashable, Sendable {
    /// The kernel itself connects to that address: `::ffff:192.0.2.1` (RFC 4291 §2.5.5.2).
    case mapped([UInt8])
    /// A translator of the network does, if there is one: `64:ff9b::192.0.2.1` (RFC 6052 §2.1).
    case translated([UInt8])

    private static let mappedPrefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
    private static let translatedPrefix: [UInt8] = [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]

    /// - Parameter address: 16 bytes. Of any other number, and for any other address, the result is nil.
    package init?(_ address: [UInt8]) {
        guard address.count == 16 else { return nil }
        if address.starts(with: ReachedIPv4.mappedPrefix) {
            self = .mapped(Array(address.suffix(4)))
        } else if address.starts(with: ReachedIPv4.translatedPrefix) {
            self = .translated(Array(address.suffix(4)))
        } else {
            return nil
        }
    }
}
