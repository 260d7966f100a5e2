/// Why a connection stops being served, and what is still owed to the client.
///
/// Thrown from the depth of a conversation to the top of its thread, where the
/// socket is ended accordingly. Nothing else closes a connection.
enum Farewell: Error, Sendable, Equatable {
    /// The client sent its end of stream.
    case clientClosed
    /// The client reset the connection, or broke it in a way that looks the same.
    case clientReset
    /// The server says goodbye in order: end of stream, then silence until the client closes too.
    case close
    /// The same, but TLS does not announce it.
    case closeUnannounced
    /// The server tears the connection down with a reset.
    case reset
    /// The TLS handshake failed; the client may still have to read why.
    case handshakeFailed(String)
    /// The script met something it did not expect.
    case scriptFailed(String)
    /// `stop()` was called.
    case serverStopped

    var end: RecordedConnection.End {
        switch self {
        case .clientClosed: .clientClosed
        case .clientReset: .clientReset
        case .close, .closeUnannounced: .serverClosed
        case .reset: .serverReset
        case .handshakeFailed(let reason): .handshakeFailed(reason)
        case .scriptFailed(let reason): .scriptFailed(reason)
        case .serverStopped: .serverStopped
        }
    }
}

extension Farewell {
    /// Whether the client may still be sending, and has yet to read how it ended.
    var awaitsClient: Bool {
        switch self {
        case .close, .closeUnannounced, .handshakeFailed: true
        case .clientClosed, .clientReset, .reset, .scriptFailed, .serverStopped: false
        }
    }
}
