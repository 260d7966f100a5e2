/// What breaks the protocol, and the code of the Close frame that tells the server (RFC 6455 §7.4.1).
package struct WebSocketViolation: Error, Sendable, Equatable {
    package let code: UInt16
    package let reason: StaticString

    package static let protocolError: UInt16 = 1002
    package static let invalidPayload: UInt16 = 1007
    package static let tooBig: UInt16 = 1009
    package static let internalError: UInt16 = 1011

    package init(code: UInt16, reason: StaticString) {
        (self.code, self.reason) = (code, reason)
    }

    package static func == (one: Self, other: Self) -> Bool {
        one.code == other.code && one.reason.description == other.reason.description
    }
}
