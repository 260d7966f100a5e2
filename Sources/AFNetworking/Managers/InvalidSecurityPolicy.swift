public import Foundation

/// The error for a policy that pins, on a manager without TLS, where no pin is ever checked.
public struct InvalidSecurityPolicy: Error, Sendable, Hashable, LocalizedError, CustomStringConvertible {
    /// The manager's base URL.
    public let baseURL: URL?

    /// The name of the exception that AFNetworking raises.
    public static let name = "Invalid Security Policy"

    /// Why, and what to change.
    public var description: String {
        let place = baseURL.map { "with the base URL \($0.textWithoutCredentials)" } ?? "without a base URL"
        return """
            \(Self.name): a manager \(place) cannot keep a policy that pins, because pins are only looked at in \
            TLS handshakes. Give the manager a base URL with the scheme https, or use a policy of the pinning mode none.
            """
    }

    /// Why, and what to change.
    public var errorDescription: String? { description }
}
