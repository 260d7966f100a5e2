import AFLoop
import AFWire

/// What two requests must have in common to share a connection. Compared by value,
/// every field; whatever influences who is at the other end belongs in here.
struct ConnectionKey: Hashable, Sendable {
    let endpoint: Endpoint
    let target: DialTarget
}
