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
        /// A script met something other than what it expected; the text says what. The client sees a reset.
        case scriptFailed(String)
        /// `TestServer.stop()` ended it.
        case serverStopped
    }

    /// Its number; the first connection the server accepted is 1.
    public let number: Int
    /// How many bytes the client sent.
    public internal(set) var bytesReceived = 0
    /// How many bytes the server handed to the kernel for the client.
    public internal(set) var bytesSent = 0
    /// What the client sent, up to the server's `storedTranscriptLimit`.
    public internal(set) var received = Data()
    /// How many requests were received on it.
    public internal(set) var requestCount = 0
    /// How many steps of its script were completed.
    public internal(set) var completedSteps = 0
    /// Why the server answered 400, when it did.
    public internal(set) var refusal: String?
    /// How it ended; nil while it is being served.
    public internal(set) var end: End?

    init(number: Int) {
        self.number = number
    }
}
