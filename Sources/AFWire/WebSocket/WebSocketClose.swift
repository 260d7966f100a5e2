/// The code and the reason of a Close frame.
package struct WebSocketClose: Sendable, Equatable {
    package static let goingAway: UInt16 = 1001

    /// Nil if the frame is empty (1005 for the caller).
    package let code: UInt16?
    package let reason: String

    package init(code: UInt16?, reason: String = "") {
        (self.code, self.reason) = (code, reason)
    }

    /// Whether an endpoint may send the code (RFC 6455 §7.4, and the registry of IANA).
    package static func maySend(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
