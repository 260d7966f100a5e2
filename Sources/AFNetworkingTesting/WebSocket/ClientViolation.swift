public import Foundation

/// A client that breaks the rules of WebSocket, or that sends more than the server takes.
public struct ClientViolation: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    public let reason: String

    /// - Parameter reason: What is wrong.
    public init(reason: String) {
        self.reason = reason
    }

    /// The reason.
    public var description: String { reason }

    /// The reason.
    public var errorDescription: String? { reason }
}
