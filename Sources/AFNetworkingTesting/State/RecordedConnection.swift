public import Foundation

/// One connection as a `TestServer` recorded it.
public struct RecordedConnection: Sendable, Hashable {
    /// How a connection ended.
    @nonexhaustive
    public enum End: Sendable, Hashable {
        /// The client sent its end of stream.
        case clientClosed
        /// The client reset the connection.
        case clientReset
        /// The server closed: the client sees the end of the stream.
        case serverClosed
        /// The server reset the connection.
        case serverReset
        /// The TLS handshake failed; the text says why. The client sees an alert and the end of the stream.
        case handshakeFailed(String)
        /// The client did something that the script did not expect; the text says what. The client sees a reset.
        case scriptFailed(String)
        /// `TestServer.stop()` ended it.
        case serverStopped
    }

    /// Its number; the first connection the server accepted is 1.
    public let number: Int
    /// How many bytes the client sent, without the overhead of TLS.
    public internal(set) var bytesReceived = 0
    /// How many bytes the server gave the kernel for the client, without the overhead of TLS.
    public internal(set) var bytesSent = 0
    /// The decrypted bytes that the client sent, up to the server's `storedTranscriptLimit`.
    public internal(set) var received = Data()
    /// The TLS handshake; nil on a connection without TLS.
    public internal(set) var tls: RecordedHandshake?
    /// The bytes on the wire before TLS began, and since.
    var wireBeforeTLS = Data()
    var wireWithinTLS = Data()
    /// How many requests were received on it.
    public internal(set) var requestCount = 0
    /// How many steps of its script were completed.
    public internal(set) var completedSteps = 0
    /// The frames of WebSocket that the client sent, as long as their heads and payloads fit into the server's
    /// `storedTranscriptLimit`.
    public private(set) var frames: [ServerFrame] = []
    private var frameBytes = 0
    /// Why the server answered 400 to what the client sent, or why it refused a frame of it.
    public internal(set) var refusal: String?
    /// How it ended; nil while it is open.
    public internal(set) var end: End?

    /// The bytes of the client on the wire, up to the server's `storedTranscriptLimit`.
    /// Without TLS the same as `received`.
    public var wire: Data { tls == nil ? received : wireBeforeTLS + wireWithinTLS }

    init(number: Int) {
        self.number = number
    }

    mutating func add(_ frame: ServerFrame, limit: Int) {
        frameBytes += 2 + frame.payload.count
        if frameBytes <= limit { frames.append(frame) }
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
