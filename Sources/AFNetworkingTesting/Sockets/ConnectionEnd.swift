import Glibc

/// Why a connection stops being served, and what is still owed to the client.
///
/// Thrown from the depth of a conversation to the top of its thread, where the
/// socket is ended accordingly. Nothing else closes a connection.
enum ConnectionEnd: Error, Sendable, Equatable {
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
}

extension ConnectionEnd {
    /// Whether the client may still be sending, and has yet to read how it ended.
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
struct SystemFailure: Error, Sendable, Equatable {
    let call: String
    let code: Int32

    init(call: String, code: Int32 = errno) {
        self.call = call
        self.code = code
    }

    var text: String { "\(call): \(String(cString: strerror(code)))" }
}
