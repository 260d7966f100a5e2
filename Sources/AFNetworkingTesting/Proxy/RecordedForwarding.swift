/// One request of a client to a `TestProxy` to connect it to a target.
public struct RecordedForwarding: Sendable, Hashable {
    /// How the client asked.
    @nonexhaustive
    public enum Means: Sendable, Hashable {
        /// With CONNECT.
        case tunnel
        /// With a request in absolute form.
        case request
        /// By SOCKS 5.
        case socks5
    }

    /// How it ended.
    @nonexhaustive
    public enum Outcome: Sendable, Hashable {
        /// It is not over.
        case open
        /// The proxy forwarded it, and it is over.
        case ended
        /// The proxy did not forward it; the text says why.
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
    /// Whether the client sent a name, which the proxy looks up, and not an address.
    public let isName: Bool
    /// The user that the client authenticated as.
    public internal(set) var user: String?
    /// How many bytes the proxy passed on to the target.
    public internal(set) var bytesToTarget = 0
    /// How many bytes of the target the proxy passed on to the client.
    public internal(set) var bytesToClient = 0
    /// How it ended.
    public internal(set) var outcome = Outcome.open

    init(connection: Int, means: Means, target: ProxyTarget, user: String?) {
        self.connection = connection
        self.means = means
        self.user = user
        (host, port) = (target.host, target.port)
        isName = SocketEndpoint(literal: target.host, port: target.port) == nil
    }
}
