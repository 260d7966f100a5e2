/// The number by which a SOCKS 5 proxy says why there is no tunnel (RFC 1928 §6).
package struct SOCKS5Reply: Hashable, Sendable {
    package let code: UInt8

    package init(_ code: UInt8) {
        self.code = code
    }

    package var text: String {
        switch code {
        case 1: "general failure"
        case 2: "its rules do not allow the connection"
        case 3: "the network cannot be reached"
        case 4: "the host cannot be reached"
        case 5: "the connection was refused"
        case 6: "the time to live expired"
        case 7: "it does not know the command"
        case 8: "it does not know the type of address"
        default: "an unassigned reply"
        }
    }

    /// Whether another address of the same host may be reached.
    var concernsAddress: Bool { 3...6 ~= code || code == 8 }
}
