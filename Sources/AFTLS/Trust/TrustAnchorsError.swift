/// Why there is nothing to trust.
public struct TrustAnchorsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was tried, what happened, what to change.
    public let message: String

    /// The message.
    public var description: String { message }
}
