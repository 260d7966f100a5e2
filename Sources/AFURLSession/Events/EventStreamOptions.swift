/// How a stream of events is loaded.
public struct EventStreamOptions: Sendable, Hashable {
    /// When a stream that has ended or broken connects again.
    @nonexhaustive
    public enum Reconnection: Sendable, Hashable {
        /// If the method of the request is safe (RFC 9110 §9.2.1), as that of GET. The server gets no other request twice.
        case automatic
        /// Whatever the method is.
        case always
        /// Never: the end of the response is the end of the stream. For a server that answers one question.
        case never
    }

    /// When a stream that has ended or broken connects again.
    public var reconnection = Reconnection.automatic

    /// The wait before the first attempt to connect again, unless the server sets another one (`retry`). 3 seconds.
    ///
    /// The wait doubles with each further attempt that brings no event, and gets up to a quarter longer at random, so
    /// that clients which lost a server together do not come back together.
    public var initialDelay: Duration = .seconds(3)

    /// The longest wait, also if the server asks for more. 5 minutes.
    public var maximumDelay: Duration = .seconds(300)

    /// How many attempts in a row may bring no event. The last error is then thrown. Nil, the default, is no limit.
    public var maximumAttempts: Int?

    /// How many attempts may come before the stream is open for the first time: 1 tells at once that there is no server.
    /// Nil, the default, is as many as ``maximumAttempts``.
    public var maximumInitialAttempts: Int?

    /// The statuses after which the stream connects again, when `Retry-After` counts too. None unless set: by the
    /// standard any status but 200 ends the stream.
    public var reconnectingStatusCodes: Set<Int> = []

    /// Whether an open stream has one of the connections that the session may have to the host
    /// (`httpMaximumConnectionsPerHost`). False: streams that stay open would keep other requests waiting.
    public var countsAmongConnections = false

    /// The identifier of the last event that the program has seen. The first request has it as `Last-Event-ID`.
    public var lastEventID = ""

    /// The longest line, in bytes. 16 MiB. A longer one ends the stream with an error.
    public var maximumLineLength = 16 << 20

    /// The most data of one event, in bytes. 16 MiB. More end the stream with an error.
    public var maximumEventSize = 16 << 20

    /// The standard options.
    public init() {}

    /// - Parameter reconnection: When a stream that has ended or broken connects again.
    public init(reconnection: Reconnection) {
        self.reconnection = reconnection
    }
}
