/// Why an operation on a stream cannot be done.
package enum StreamFailure: Error, Sendable {
    package enum Direction: Sendable {
        case reading
        case writing
    }

    case closed(Direction)
    /// In plain text the session could not check the pins of the host.
    case pinned
    /// The TLS handshake needs both directions, and one is closed.
    case halfClosed
    /// The TLS handshake cannot begin: there are unread bytes that came in plain text.
    case unreadable
    /// The task was to become streams, and has no delegate that takes them.
    case noStreamDelegate
}
