import Glibc

/// Why the server stops serving a connection.
///
/// A conversation throws it, and the connection's thread catches it and ends the socket accordingly. Nothing else
/// closes a connection.
enum ConnectionEnd: Error, Sendable, Equatable {
    /// The client sent its end of stream.
    case clientClosed
    /// The client reset the connection, or broke it in another way.
    case clientReset
    /// The server sends its end of stream, and drops everything that arrives until the client closes too.
    case close
    /// The same, without close_notify.
    case closeUnannounced
    /// The server resets the connection.
    case reset
    /// The TLS handshake failed. The client may not have read the alert yet.
    case handshakeFailed(String)
    /// The client did something that the script did not expect.
    case scriptFailed(String)
    /// `stop()` was called.
    case serverStopped

    /// Whether the server waits for the client to close: it may still be sending, or reading the end.
    var awaitsClient: Bool {
        switch self {
        case .close, .closeUnannounced, .handshakeFailed: true
        case .clientClosed, .clientReset, .reset, .scriptFailed, .serverStopped: false
        }
    }
}

extension [UInt8] {
    /// `withUnsafeBytes` that keeps the error's type.
    func withBytes(_ body: (UnsafeRawBufferPointer) throws(ConnectionEnd) -> Void) throws(ConnectionEnd) {
        try withUnsafeBufferPointer { buffer throws(ConnectionEnd) in
            try body(UnsafeRawBufferPointer(buffer))
        }
    }
}

/// A system call that failed, with its errno value.
struct SocketFailure: Error, Sendable, Equatable {
    let call: String
    let code: Int32

    init(call: String, code: Int32 = errno) {
        self.call = call
        self.code = code
    }

    var text: String { "\(call): \(String(cString: strerror(code)))" }
}
