/// The parts of a frame's head (RFC 6455 §5.2).
package enum WebSocketOpcode: UInt8, Sendable {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    var isControl: Bool { rawValue & 0x8 != 0 }
}

/// What breaks the protocol, and the code of the Close frame that tells the server (RFC 6455 §7.4.1).
package struct WebSocketViolation: Error, Sendable, Equatable {
    package let code: UInt16
    package let reason: StaticString

    package static let protocolError: UInt16 = 1002
    package static let invalidPayload: UInt16 = 1007
    package static let tooBig: UInt16 = 1009
    package static let internalError: UInt16 = 1011

    package init(_ code: UInt16, reason: StaticString) {
        (self.code, self.reason) = (code, reason)
    }

    package static func == (one: Self, other: Self) -> Bool {
        one.code == other.code && one.reason.description == other.reason.description
    }
}

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
