public import Foundation

/// Something a session did.
///
/// A task begins with `created`. Once it was resumed or cancelled, it ends with `completed`; nothing follows that.
/// Between the two each of its exchanges begins with `fetchStarted`, or is a response of the cache. A connection that
/// was made ends with `connectionClosed`, one that could not be made with `connectionFailed`. If no request wants it
/// any more before it is made, it ends with `connectionClosed`.
public struct SessionEvent: Sendable {
    /// When it happened.
    public let date: Date
    /// The ``URLSessionTask/taskIdentifier`` of the event's task. Nil for connections, which tasks share.
    public let task: Int?
    /// The number of the task's exchange: from 1, counting requests that are sent again.
    public let exchange: Int?
    /// The number of the session's connection, from 1.
    public let connection: Int?
    /// What happened.
    public let kind: Kind

    init(kind: Kind, date: Date, task: Int? = nil, exchange: Int? = nil, connection: Int? = nil) {
        self.kind = kind
        self.date = date
        self.task = task
        self.exchange = exchange
        self.connection = connection
    }
}

extension SessionEvent {
    /// What happened. Later versions may add cases; handle them with `default`.
    @nonexhaustive
    public enum Kind: Sendable, Hashable {
        // MARK: Of a task

        /// The session made a task.
        case created(method: String, url: String)
        /// The task runs, for the first time or after a suspension.
        case resumed
        /// The task was suspended.
        case suspended
        /// The task was asked to end.
        case cancelled
        /// A download task goes on in place of the task.
        case becameDownload(task: Int)
        /// A stream task goes on in place of the task.
        case becameStream(task: Int)
        /// The task has ended.
        case completed(Outcome)

        // MARK: Of an exchange

        /// The request looks for a connection.
        case fetchStarted(method: String, url: String)
        /// The request has a connection.
        case connectionAcquired(isReused: Bool)
        /// The session has sent the whole request.
        case requestSent(headBytes: Int64, bodyBytes: Int64)
        /// The session has sent more of the request's body: so many bytes in all.
        case bytesSent(total: Int64)
        /// The head of the final response has arrived.
        case response(status: Int, headBytes: Int64)
        /// More of the response's body has arrived: so many bytes in all, before decoding.
        case bytesReceived(total: Int64)
        /// The connection was lost, or the server did not read the request: the session sends it once more.
        case retried
        /// An interceptor wants the request sent again after so many seconds. `attempt` is the number of that attempt;
        /// the first attempt of a task is 1.
        case retryScheduled(attempt: Int, seconds: TimeInterval)
        /// The response is a redirect, and the task follows it.
        case redirected(status: Int, to: String)
        /// A server or proxy asks for credentials, or a server shows its certificate, and the session asks the
        /// delegate.
        case challenged(Challenge)
        /// A server or proxy asks for credentials in a way that the session cannot answer.
        case challengeUnanswerable(message: String)

        // MARK: Of a WebSocket

        /// The WebSocket is open, with this subprotocol.
        case webSocketOpened(subprotocol: String?)
        /// The session sends a message.
        case messageSent(bytes: Int, isText: Bool)
        /// A message has arrived.
        case messageReceived(bytes: Int, isText: Bool)
        /// The server has sent a Close frame; 1005 stands for one without a code.
        case webSocketClosed(code: Int, reason: String)

        // MARK: Of the cache

        /// The cache has the response.
        case cacheHit
        /// The cache does not have the response.
        case cacheMiss
        /// The cache has a response, and the session asks the server whether it is still good.
        case cacheValidation
        /// The cache gets the response, unless the delegate objects.
        case cacheStore

        // MARK: Of a connection

        /// The lookup of the host's name begins.
        case lookupStarted(host: String)
        /// The name has so many addresses.
        case lookupEnded(addresses: Int)
        /// The session tries the first of the addresses.
        case connectStarted(addresses: [String])
        /// This address has answered.
        case connectEnded(address: String)
        /// The session asks a proxy for a tunnel to the server.
        case proxyStarted(proxy: String)
        /// The proxy has made the tunnel.
        case proxyEnded
        /// The TLS handshake begins.
        case tlsStarted(host: String)
        /// The TLS handshake has ended: its version, its cipher suite, and whether it resumed an earlier session.
        case tlsEnded(version: String, cipherSuite: UInt16, isResumed: Bool)
        /// The session trusts the server although the form of its root breaks a rule, because the program itself named
        /// the root as an anchor: see `AuthorityFlaw`.
        case authorityFlawTolerated(message: String)
        /// The session could not make the connection.
        case connectionFailed(message: String)
        /// The connection was closed, by either side.
        case connectionClosed

        // MARK: Of the monitor

        /// The session dropped so many events: the monitor was too slow for them.
        case missed(count: Int)
    }

    /// A challenge.
    public struct Challenge: Sendable, Hashable {
        /// As `URLProtectionSpace.authenticationMethod`.
        public let method: String
        /// The host of the server or proxy that asks.
        public let host: String
        /// The port of the server or proxy that asks.
        public let port: Int
        /// The realm that the challenge names.
        public let realm: String?
        /// Whether a proxy asks.
        public let isProxy: Bool
        /// How many earlier answers the server or proxy has refused.
        public let previousFailureCount: Int
    }

    /// How a task ended.
    public struct Outcome: Sendable, Hashable {
        /// The status of the response, if there is one.
        public let status: Int?
        /// The code of the error. Nil if the task has none, whatever the status.
        public let errorCode: URLError.Code?
        /// The error, in words.
        public let message: String?
        /// The time since the task's first resumption.
        public let seconds: TimeInterval
        /// How many bytes of the request's body were sent.
        public let bytesSent: Int64
        /// How many bytes of the response's body were received, decoded.
        public let bytesReceived: Int64
        /// How many redirects the task followed.
        public let redirects: Int
    }
}

extension SessionEvent.Kind {
    /// Whether the mailbox keeps the event until it is full.
    var concernsTask: Bool {
        switch self {
        case .created, .resumed, .suspended, .cancelled, .becameDownload, .becameStream, .completed, .response,
            .webSocketOpened, .webSocketClosed:
            true
        default: false
        }
    }

    /// Whether `other`, coming right after, replaces this one.
    func isSuperseded(by other: Self) -> Bool {
        switch (self, other) {
        case (.bytesSent, .bytesSent), (.bytesReceived, .bytesReceived): true
        default: false
        }
    }
}
