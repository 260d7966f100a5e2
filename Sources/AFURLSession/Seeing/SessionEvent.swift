public import Foundation

/// Something a session did.
///
/// A task begins with `created` and, once it was resumed or cancelled, ends with `completed`; nothing follows that.
/// Between the two each of its exchanges begins with `fetchStarted`, or is an answer of the cache. A connection that was made ends with
/// `connectionClosed`, one that came to nothing with `connectionFailed` or, if nobody wanted it any more,
/// `connectionClosed`.
public struct SessionEvent: Sendable {
    /// When it happened.
    public let date: Date
    /// The ``URLSessionTask/taskIdentifier`` of the task it is about. Nil for connections, which tasks share.
    public let task: Int?
    /// Which exchange of the task: from 1, counting requests that are sent again.
    public let exchange: Int?
    /// Which connection of the session, from 1.
    public let connection: Int?
    /// What happened.
    public let kind: Kind

    init(_ kind: Kind, date: Date, task: Int? = nil, exchange: Int? = nil, connection: Int? = nil) {
        self.kind = kind
        self.date = date
        self.task = task
        self.exchange = exchange
        self.connection = connection
    }
}

extension SessionEvent {
    /// What happened. Later versions may know more; leave room for them with `default`.
    public enum Kind: Sendable, Hashable {
        // MARK: Of a task

        /// A task was made.
        case created(method: String, url: String)
        /// It runs, for the first time or after it was suspended.
        case resumed
        /// It was suspended.
        case suspended
        /// It was asked to end.
        case cancelled
        /// A download task goes on in its place.
        case becameDownload(task: Int)
        /// A stream task goes on in its place.
        case becameStream(task: Int)
        /// It has ended.
        case completed(Outcome)

        // MARK: Of an exchange

        /// The request looks for a connection.
        case fetchStarted(method: String, url: String)
        /// It has one.
        case connectionAcquired(isReused: Bool)
        /// It was sent in full.
        case requestSent(headBytes: Int64, bodyBytes: Int64)
        /// More of its body was sent; in all so much.
        case bytesSent(total: Int64)
        /// The head of the final response has arrived.
        case response(status: Int, headBytes: Int64)
        /// More of the response's body has arrived; in all so much, as it was coded.
        case bytesReceived(total: Int64)
        /// The connection was lost, or the server did not read the request: it is sent once more.
        case retried
        /// An interceptor wants the request sent again after so many seconds: the attempt of this number, from 1.
        case retryScheduled(attempt: Int, seconds: TimeInterval)
        /// The response leads elsewhere, and is followed.
        case redirected(status: Int, to: String)
        /// A server or proxy wants to know who we are, or a server shows who it is, and somebody is asked.
        case challenged(Challenge)

        // MARK: Of the cache

        /// It has the response.
        case cacheHit
        /// It has not.
        case cacheMiss
        /// It has one, about which the server is asked.
        case cacheValidation
        /// It is given the response, unless the delegate objects.
        case cacheStore

        // MARK: Of a connection

        /// The name of its host is looked up.
        case lookupStarted(host: String)
        /// The name has so many addresses.
        case lookupEnded(addresses: Int)
        /// The first of the addresses is tried.
        case connectStarted(addresses: [String])
        /// This address has answered.
        case connectEnded(address: String)
        /// A proxy is asked to lead on.
        case proxyStarted(proxy: String)
        /// The proxy leads on.
        case proxyEnded
        /// The handshake begins.
        case tlsStarted(host: String)
        /// The connection is secured: by which version, with which suite, and whether by a short handshake.
        case tlsEnded(version: String, cipherSuite: UInt16, isResumed: Bool)
        /// It could not be made.
        case connectionFailed(message: String)
        /// It was closed, by whichever side.
        case connectionClosed

        // MARK: Of the monitor

        /// So many events were not kept: the monitor was too slow for them.
        case missed(count: Int)
    }

    /// What is asked.
    public struct Challenge: Sendable, Hashable {
        /// As `URLProtectionSpace.authenticationMethod`.
        public let method: String
        /// Of the server or proxy that asks.
        public let host: String
        /// Its port.
        public let port: Int
        /// What it says the credential is for.
        public let realm: String?
        /// Whether it is a proxy.
        public let isProxy: Bool
        /// How many answers were refused before.
        public let previousFailureCount: Int
    }

    /// How a task ended.
    public struct Outcome: Sendable, Hashable {
        /// Of the response, if there is one.
        public let status: Int?
        /// Nil if all went well, whatever the status.
        public let errorCode: URLError.Code?
        /// What went wrong, in words.
        public let message: String?
        /// From the task's first resumption.
        public let seconds: TimeInterval
        /// Of the request's body.
        public let bytesSent: Int64
        /// Of the response's body, decoded.
        public let bytesReceived: Int64
        /// That were followed.
        public let redirects: Int
    }
}

extension SessionEvent.Kind {
    /// Not given up for lack of room before there is none at all.
    var concernsTask: Bool {
        switch self {
        case .created, .resumed, .suspended, .cancelled, .becameDownload, .becameStream, .completed, .response: true
        default: false
        }
    }

    /// Whether `other`, coming right after, makes this one superfluous.
    func isSuperseded(by other: Self) -> Bool {
        switch (self, other) {
        case (.bytesSent, .bytesSent), (.bytesReceived, .bytesReceived): true
        default: false
        }
    }
}
