/// What a `TestProxy` saw of one request to reach somebody.
public struct RecordedForwarding: Sendable, Hashable {
    /// How the client asked.
    public enum Means: Sendable, Hashable {
        /// With CONNECT.
        case tunnel
        /// With a request in absolute form.
        case request
        /// By SOCKS 5.
        case socks5
    }

    /// How it ended.
    public enum Outcome: Sendable, Hashable {
        /// It has not ended.
        case open
        /// It was forwarded, and is over.
        case ended
        /// It was not forwarded; the text says why.
        case refused(String)
    }

    /// The number of the client's connection.
    public let connection: Int
    /// How the client asked.
    public let means: Means
    /// The host, as the client wrote it, without brackets.
    public let host: String
    /// The port.
    public let port: UInt16
    /// Whether a SOCKS client sent a name, and left it to the proxy to look it up; true for a name over HTTP, too.
    public let isName: Bool
    /// The user that was let in.
    public internal(set) var user: String?
    /// How many bytes were passed on to the target.
    public internal(set) var bytesToTarget = 0
    /// How many bytes of the target were passed on to the client.
    public internal(set) var bytesToClient = 0
    /// How it ended.
    public internal(set) var outcome = Outcome.open

    init(connection: Int, means: Means, target: ProxyTarget, user: String?) {
        self.connection = connection
        self.means = means
        self.user = user
        (host, port) = (target.host, target.port)
        isName = PeerAddress(literal: target.host, port: target.port) == nil
    }
}
