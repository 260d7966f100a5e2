public import Foundation

/// What a `TestServer` saw of one connection.
public struct RecordedConnection: Sendable, Hashable {
    /// How a connection ended.
    public enum End: Sendable, Hashable {
        /// The client closed its side, orderly.
        case clientClosed
        /// The client reset the connection.
        case clientReset
        /// The server closed, orderly: the client sees the end of the stream.
        case serverClosed
        /// The server reset the connection.
        case serverReset
        /// The TLS handshake failed; the text says why. The client sees the end of the stream, after an alert.
        case handshakeFailed(String)
        /// A script met something other than what it expected; the text says what. The client sees a reset.
        case scriptFailed(String)
        /// `TestServer.stop()` ended it.
        case serverStopped
    }

    /// Its number; the first connection the server accepted is 1.
    public let number: Int
    /// How many bytes the client sent; those of TLS itself are not among them.
    public internal(set) var bytesReceived = 0
    /// How many bytes the server handed to the kernel for the client; those of TLS itself are not among them.
    public internal(set) var bytesSent = 0
    /// What the client sent, decrypted, up to the server's `storedTranscriptLimit`.
    public internal(set) var received = Data()
    /// What the TLS handshake was like; nil on a connection without TLS.
    public internal(set) var tls: RecordedHandshake?
    /// What was received before TLS began, and since.
    var wireBeforeTLS = Data()
    var wireWithinTLS = Data()
    /// How many requests were received on it.
    public internal(set) var requestCount = 0
    /// How many steps of its script were completed.
    public internal(set) var completedSteps = 0
    /// Why the server answered 400, when it did.
    public internal(set) var refusal: String?
    /// How it ended; nil while it is being served.
    public internal(set) var end: End?

    /// What the client sent as it was on the wire, up to the server's `storedTranscriptLimit`.
    /// Without TLS the same as `received`.
    public var wire: Data { tls == nil ? received : wireBeforeTLS + wireWithinTLS }

    init(number: Int) {
        self.number = number
    }
}

extension RecordedConnection.End {
    init(_ end: ConnectionEnd) {
        self =
            switch end {
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
