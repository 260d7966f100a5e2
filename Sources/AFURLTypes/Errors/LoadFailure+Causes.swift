package import AFWire

/// Turns errors of the lower layers into failures.
extension LoadFailure {
    /// The request broke a rule; the session sent nothing.
    package init(_ rejection: RequestRejection) {
        let detail: Detail? =
            switch (rejection.component, rejection.rule) {
            // Foundation's loaders also report a missing URL, and one without a scheme, as unsupported.
            case (.scheme, .notHTTP), (.scheme, .missing), (.url, .missing), (.url, .empty): .scheme
            case (_, .tooLong) where rejection.component != .host: .size
            case (_, .bodyNotAllowed), (_, .lengthUnknown): .size
            case (.method, _): .method
            case (.fieldName, _), (.fieldValue, _), (.hostField, _): .header
            default: nil
            }
        self.init(
            .request,
            detail: detail,
            phase: .preparing,
            message: "The request was not sent: \(rejection).",
            advice: Self.advice(for: rejection)
        )
    }

    /// The peer's message broke a rule, passed a limit or ended early.
    package init(_ error: HTTP1Error, phase: Phase, peer: Endpoint, errno: Int32? = nil) {
        let (reason, detail) = Self.classify(error.kind)
        let what =
            switch reason {
            case .lost: "the connection was closed"
            case .limit: "the response passed a limit"
            default: "the response is not valid HTTP"
            }
        self.init(
            reason,
            detail: detail,
            phase: phase,
            errno: errno,
            message: "\(Self.doing(phase)) \(peer.text) failed: \(what): \(error.detail).",
            advice: Self.mayBeTLS(error.kind, peer: peer) ? "If the server speaks TLS on this port, use https." : nil
        )
    }

    /// Whether a server that waits for TLS may have answered like this to plain text.
    private static func mayBeTLS(_ kind: HTTP1Error.Kind, peer: Endpoint) -> Bool {
        guard peer.scheme == .http, peer.port != 80 else { return false }
        return switch kind {
        case .status, .closed(.beforeHead), .closed(.inHead): true
        default: false
        }
    }

    /// The connection broke, and the peer did not close it properly.
    package static func connectionLost(phase: Phase, peer: Endpoint, errno: Int32) -> LoadFailure {
        let detail: Detail = phase == .receivingBody ? .body : .reset
        return LoadFailure(
            .lost,
            detail: detail,
            phase: phase,
            errno: errno,
            message: "\(doing(phase)) \(peer.text) failed: the connection broke (\(SystemErrorText.of(errno)))."
        )
    }

    /// - Parameter interval: The time that passed, for the message.
    package static func timeout(
        phase: Phase,
        peer: Endpoint?,
        interval: Duration,
        attempts: [Attempt] = []
    ) -> LoadFailure {
        LoadFailure(
            .timeout,
            detail: .idle,
            phase: phase,
            attempts: attempts,
            message: "\(doing(phase)) \(peer?.text ?? "the server") failed: nothing happened for \(interval.inWords).",
            advice: "Raise timeoutInterval if the server needs longer."
        )
    }

    /// The task as a whole took too long.
    package static func outOfTime(phase: Phase, peer: Endpoint?) -> LoadFailure {
        LoadFailure(
            .timeout,
            detail: .resource,
            phase: phase,
            message: "\(doing(phase)) \(peer?.text ?? "the server") failed: the task has used up its time.",
            advice: "Raise timeoutIntervalForResource if it needs longer."
        )
    }

    /// The time of the task is over because the program has not answered.
    package static func unanswered(_ missing: MissingAnswer, peer: Endpoint?) -> LoadFailure {
        let (who, advice) =
            switch missing {
            case .delegate(let method):
                ("the delegate has not answered \(method)", "Call its completion handler, whatever the answer is.")
            case .interceptor(let method):
                ("an interceptor has not returned from \(method)", "Let it return, or throw, also when it gives up.")
            }
        return LoadFailure(
            .timeout,
            detail: .unanswered,
            phase: .delivering,
            message: "Loading from \(peer?.text ?? "the server") failed: \(who), and the time of the task is over.",
            advice: advice
        )
    }

    /// No address accepted a connection.
    package static func cannotConnect(
        _ peer: Endpoint,
        detail: Detail? = nil,
        attempts: [Attempt],
        errno: Int32?
    ) -> LoadFailure {
        let cause = errno.map { SystemErrorText.of($0) } ?? "no address answered"
        return LoadFailure(
            .resources,
            detail: detail,
            phase: .connecting,
            attempts: attempts,
            errno: errno,
            message: "Connecting to \(peer.text) failed: \(cause).",
            advice: advice(forMissingWay: detail) ?? "Check that the server runs there and is reachable."
        )
    }

    /// The advice if this machine has no way to the address; nil for other details.
    package static func advice(forMissingWay detail: Detail?) -> String? {
        switch detail {
        case .network: "This machine has no way there: check its network."
        case .cellular: "Set allowsCellularAccess if the cellular network may be used, or connect to another one."
        default: nil
        }
    }

    /// - Parameter isKnownMissing: The name service said that the name does not exist.
    package static func cannotResolve(_ peer: Endpoint, isKnownMissing: Bool, explanation: String) -> LoadFailure {
        LoadFailure(
            .resources,
            detail: isKnownMissing ? .nameNotFound : .nameLookup,
            phase: .resolving,
            message: "Looking up \(peer.host.text) failed: \(EscapedText(explanation).text).",
            advice: isKnownMissing ? "Check the host of the URL." : "Check the name service of this machine."
        )
    }

    package static func cancelled(phase: Phase) -> LoadFailure {
        LoadFailure(.cancelled, phase: phase, message: "The load was cancelled.")
    }
}

// MARK: - Words

extension LoadFailure {
    private static func classify(_ kind: HTTP1Error.Kind) -> (Reason, Detail?) {
        switch kind {
        case .status, .request: (.malformed, .status)
        case .header: (.malformed, .header)
        case .framing: (.malformed, .framing)
        case .chunk: (.malformed, .chunk)
        case .limit: (.limit, nil)
        case .closed(.beforeHead), .closed(.inHead): (.lost, .head)
        case .closed(.inBody): (.lost, .truncated)
        }
    }

    static func doing(_ phase: Phase) -> String {
        switch phase {
        case .waitingForConnectivity: "Waiting for a network to reach"

        case .queued: "Waiting for a connection to"
        case .resolving: "Looking up"
        case .connecting: "Connecting to"
        case .proxy: "Finding the way through a proxy to"
        case .tls: "Securing the connection to"
        case .sending: "Sending the request to"
        case .receivingBody: "Receiving the body from"
        default: "Loading from"
        }
    }

    private static func advice(for rejection: RequestRejection) -> String {
        switch (rejection.component, rejection.rule) {
        case (.scheme, _), (.url, .missing), (.url, .empty): "Use an absolute http:// or https:// URL."
        case (.userInfo, _): "Give user name and password as a credential instead of in the URL."
        case (.body, .lengthUnknown): "Say the length, or use HTTP/1.1."
        case (.body, _): "Use another method, or move the body into the query."
        case (.fieldValue, _), (.fieldName, _), (.hostField, _): "Change or remove the field."
        case (_, .tooLong): "Shorten it; long values belong in the body."
        default: "Correct it and try again."
        }
    }
}
