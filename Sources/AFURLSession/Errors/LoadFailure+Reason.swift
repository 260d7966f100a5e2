extension LoadFailure {
    /// The kind of a failure.
    public struct Reason: RawRepresentable, Hashable, Sendable {
        /// The name of the reason.
        public let rawValue: String

        /// Makes a reason from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The session refused the request before it chose a connection.
        public static let request = Reason(rawValue: "request")
        /// The local system or the network refused.
        public static let resources = Reason(rawValue: "resources")
        /// A deadline passed.
        public static let timeout = Reason(rawValue: "timeout")
        /// The peer went away.
        public static let lost = Reason(rawValue: "lost")
        /// The peer's message breaks HTTP.
        public static let malformed = Reason(rawValue: "malformed")
        /// The response is valid, and not one that the caller can use.
        public static let response = Reason(rawValue: "response")
        /// The peer sent more than the session is willing to hold.
        public static let limit = Reason(rawValue: "limit")
        /// The content could not be decoded.
        public static let decoding = Reason(rawValue: "decoding")
        /// The TLS handshake or a record failed.
        public static let tls = Reason(rawValue: "tls")
        /// The peer's certificate was not accepted.
        public static let trust = Reason(rawValue: "trust")
        /// The client's own certificate was missing or refused.
        public static let clientCertificate = Reason(rawValue: "clientCertificate")
        /// A redirect was not followed.
        public static let redirect = Reason(rawValue: "redirect")
        /// A token is needed, and there is none: see ``/AFURLSession/TokenInterceptor/token``.
        public static let authentication = Reason(rawValue: "authentication")
        /// The proxy failed.
        public static let proxy = Reason(rawValue: "proxy")
        /// The body of the request could not be supplied.
        public static let body = Reason(rawValue: "body")
        /// A file could not be used.
        public static let file = Reason(rawValue: "file")
        /// The caller cancelled.
        public static let cancelled = Reason(rawValue: "cancelled")
        /// Only the cache was allowed to answer, and it could not.
        public static let cache = Reason(rawValue: "cache")
        /// A defect of this library. The task ends so that it does not wait for ever.
        public static let fault = Reason(rawValue: "fault")
    }

    /// A kind of a reason.
    public struct Detail: RawRepresentable, Hashable, Sendable {
        /// The name of the detail.
        public let rawValue: String

        /// Makes a detail from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The server did not open the WebSocket that was asked for.
        public static let upgrade = Detail(rawValue: "upgrade")
        /// A frame breaks the protocol of WebSockets.
        public static let frame = Detail(rawValue: "frame")
        /// The server did not answer a ping.
        public static let pong = Detail(rawValue: "pong")
        /// The server did not answer a Close frame.
        public static let close = Detail(rawValue: "close")
        /// A scheme that is neither http nor https, or no URL or scheme at all.
        public static let scheme = Detail(rawValue: "scheme")
        /// Longer than the session sends, or a body where none is allowed.
        public static let size = Detail(rawValue: "size")
        /// The caller may not wait for the load, because the load needs the caller's thread.
        public static let caller = Detail(rawValue: "caller")
        /// The method of the request may not be sent.
        public static let method = Detail(rawValue: "method")
        /// The name does not exist.
        public static let nameNotFound = Detail(rawValue: "nameNotFound")
        /// The name service gave no answer.
        public static let nameLookup = Detail(rawValue: "nameLookup")
        /// This machine has no way to any of the addresses.
        public static let network = Detail(rawValue: "network")
        /// The way to the addresses is by a cellular network, which may not be used.
        public static let cellular = Detail(rawValue: "cellular")
        /// The session's ``/AFTransport/AddressFilter`` allows none of the addresses.
        public static let address = Detail(rawValue: "address")
        /// Nothing happened during the allowed time.
        public static let idle = Detail(rawValue: "idle")
        /// The time for the whole task has passed.
        public static let resource = Detail(rawValue: "resource")
        /// The time for waiting in the queue has passed.
        public static let queue = Detail(rawValue: "queue")
        /// The time for one address has passed.
        public static let attempt = Detail(rawValue: "attempt")
        /// The time for securing a connection has passed.
        public static let handshake = Detail(rawValue: "handshake")
        /// The failure occurred before the head was complete.
        public static let head = Detail(rawValue: "head")
        /// The failure occurred in the body.
        public static let body = Detail(rawValue: "body")
        /// Fewer bytes arrived than were announced.
        public static let truncated = Detail(rawValue: "truncated")
        /// The stream is closed in this direction.
        public static let closed = Detail(rawValue: "closed")
        /// The connection was reset.
        public static let reset = Detail(rawValue: "reset")
        /// The status line is malformed, or the status is not the one that the caller needs.
        public static let status = Detail(rawValue: "status")
        /// A header field is malformed or not allowed.
        public static let header = Detail(rawValue: "header")
        /// The fields that say where the body ends contradict each other or are malformed.
        public static let framing = Detail(rawValue: "framing")
        /// The chunked coding is malformed.
        public static let chunk = Detail(rawValue: "chunk")
        /// A certificate has expired.
        public static let date = Detail(rawValue: "date")
        /// A certificate is not valid yet.
        public static let notYetValid = Detail(rawValue: "notYetValid")
        /// No anchor of the session signed a certificate of the chain.
        public static let unknownRoot = Detail(rawValue: "unknownRoot")
        /// The certificate is self-signed, and no anchor vouches for it.
        public static let selfSigned = Detail(rawValue: "selfSigned")
        /// The certificate is for other hosts.
        public static let name = Detail(rawValue: "name")
        /// The certificate is for another purpose.
        public static let purpose = Detail(rawValue: "purpose")
        /// A key or a digest is too weak.
        public static let weakKey = Detail(rawValue: "weakKey")
        /// A certificate in the chain breaks a rule of X.509.
        public static let chain = Detail(rawValue: "chain")
        /// The bytes have another digest than they must have.
        public static let digest = Detail(rawValue: "digest")
        /// The session's own policy refused the certificate.
        public static let policy = Detail(rawValue: "policy")
        /// The delegate or an interceptor has not answered, and the time of the task is over.
        public static let unanswered = Detail(rawValue: "unanswered")
        /// The delegate refused the server, or did not answer in time.
        public static let delegate = Detail(rawValue: "delegate")
        /// There are no anchors to verify the certificates with.
        public static let anchors = Detail(rawValue: "anchors")
        /// The peer and the client have no version of the protocol in common.
        public static let version = Detail(rawValue: "version")
        /// The peer and the client have no cipher suite in common.
        public static let cipher = Detail(rawValue: "cipher")
        /// The peer chose a protocol that was not offered.
        public static let alpn = Detail(rawValue: "alpn")
        /// The peer asked for a renegotiation.
        public static let renegotiation = Detail(rawValue: "renegotiation")
        /// The peer sent an alert that names its reason.
        public static let alert = Detail(rawValue: "alert")
        /// What arrived is not TLS.
        public static let notTLS = Detail(rawValue: "notTLS")
        /// The peer sends endless messages without data.
        public static let flood = Detail(rawValue: "flood")
        /// The peer requires a certificate of the client.
        public static let required = Detail(rawValue: "required")
        /// A setting for proxies cannot be used, or the connection through a proxy broke.
        public static let proxy = Detail(rawValue: "proxy")
        /// The proxy could not be connected to, or the time for connecting has passed.
        public static let connect = Detail(rawValue: "connect")
        /// The connection to the proxy could not be secured.
        public static let tls = Detail(rawValue: "tls")
        /// The proxy refused: ``LoadFailure/proxyReply`` is its answer.
        public static let refused = Detail(rawValue: "refused")
        /// The proxy requires credentials, or refused those it was sent.
        public static let credentials = Detail(rawValue: "credentials")
        /// The proxy does not speak its protocol, or sent bytes out of turn.
        public static let malformed = Detail(rawValue: "malformed")
        /// The redirect names no usable URL.
        public static let location = Detail(rawValue: "location")
        /// A URL protocol class redirected after its response.
        public static let late = Detail(rawValue: "late")
        /// A file could not be created.
        public static let create = Detail(rawValue: "create")
        /// A file could not be opened.
        public static let open = Detail(rawValue: "open")
        /// A file could not be moved.
        public static let move = Detail(rawValue: "move")
        /// A stream cannot be read.
        public static let stream = Detail(rawValue: "stream")
        /// More or fewer bytes than announced.
        public static let length = Detail(rawValue: "length")
        /// A stream would have to be read again.
        public static let exhausted = Detail(rawValue: "exhausted")
        /// A file may not be read.
        public static let permission = Detail(rawValue: "permission")
        /// A directory where a file was expected.
        public static let directory = Detail(rawValue: "directory")
        /// A file could not be read to its end.
        public static let read = Detail(rawValue: "read")
        /// A file was changed while it was sent.
        public static let changed = Detail(rawValue: "changed")
        /// Content codings that the session does not decode.
        public static let coding = Detail(rawValue: "coding")
        /// The content does not match its content coding.
        public static let damaged = Detail(rawValue: "damaged")
        /// The content becomes far longer than it was sent.
        public static let bomb = Detail(rawValue: "bomb")
        /// There is not enough memory to decode the content.
        public static let memory = Detail(rawValue: "memory")
        /// A file is missing.
        public static let missing = Detail(rawValue: "missing")
        /// The data task of a manager became a stream task.
        public static let becameStream = Detail(rawValue: "becameStream")
        /// The session was invalidated.
        public static let invalidated = Detail(rawValue: "invalidated")
    }
}

extension LoadFailure {
    /// The step of a load at which it failed.
    public struct Phase: RawRepresentable, Hashable, Sendable {
        /// The name of the phase.
        public let rawValue: String

        /// Makes a phase from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Checking the request and turning it into bytes.
        public static let preparing = Phase(rawValue: "preparing")
        /// Waiting for a connection to become free.
        public static let queued = Phase(rawValue: "queued")
        /// Waiting for a network.
        public static let waitingForConnectivity = Phase(rawValue: "waitingForConnectivity")
        /// Looking up the addresses of the host.
        public static let resolving = Phase(rawValue: "resolving")
        /// Connecting to one of the addresses.
        public static let connecting = Phase(rawValue: "connecting")
        /// Reaching the server through a proxy: connecting to the proxy, securing that connection, asking for a tunnel.
        public static let proxy = Phase(rawValue: "proxy")
        /// Securing the connection.
        public static let tls = Phase(rawValue: "tls")
        /// Sending head or body.
        public static let sending = Phase(rawValue: "sending")
        /// Waiting for the head of the response.
        public static let waitingForHead = Phase(rawValue: "waitingForHead")
        /// Receiving the body of the response.
        public static let receivingBody = Phase(rawValue: "receivingBody")
        /// Handing the result to the caller.
        public static let delivering = Phase(rawValue: "delivering")
    }
}
