/// Why something cannot be done to a stream.
enum StreamFailure: Error, Sendable {
    enum Direction: Sendable {
        case reading
        case writing
    }

    case closed(Direction)
    /// In the clear nobody would look at the pins of the host.
    case pinned
    /// It was to be secured, and one direction is over.
    case halfClosed
    /// It was to be secured, and something that came in the clear is still there.
    case unreadable
    /// It was to become streams, and nobody takes them.
    case nobodyForStreams
}
