import AFLoop
import AFTransport
import AFWire
import Glibc

// Rows for what the transport reports; those for TLS, proxies, bodies and WebSockets have files of their own.
extension LoadFailure {
    init(_ error: TransferError, peer: Endpoint?) {
        switch (error, peer) {
        case (.body(let failure), let peer): self.init(failure, peer: peer)
        case (.impossibleSocketPath, _):
            self.init(
                .request,
                phase: .preparing,
                message: """
                    The request was not sent: unixDomainSocketPath must have 1 to 107 bytes and no NUL, and a place of \
                    hostOverrides no zone that this machine does not have.
                    """
            )
        case (.dial(let failure, let report), let peer?): self.init(failure, report: report, peer: peer)
        case (.proxy(let failure), let peer?): self.init(failure, peer: peer)
        case (.handshake(let failure), let peer?): self.init(failure, peer: peer)
        case (.secured(let failure, let phase, let identification), let peer?):
            self.init(failure, phase: Phase(phase), identification: identification, trust: nil, peer: peer)
        case (.cutShort, let peer?):
            self.init(
                .lostTruncated,
                phase: .receivingBody,
                message: "Receiving the body from \(peer.text) failed: the connection ended without close_notify, and "
                    + "nothing else says that the body was complete. It may have been cut short on the way."
            )
        case (.wire(let error), let peer?): self.init(error, peer: peer)
        case (.channel(let error, let phase), let peer?):
            self = .connectionLost(phase: Phase(phase), peer: peer, errno: error.code)
        case (.timedOut(let phase, let interval), let peer):
            self = .failed(
                .timeoutIdle,
                phase: Phase(phase),
                peer: peer,
                why: "nothing happened for \(interval.inWords).",
                advice: "Raise timeoutInterval if the server needs longer."
            )
        case (.outOfTime(let phase), let peer):
            self = .failed(
                .timeoutResource,
                phase: Phase(phase),
                peer: peer,
                why: "the task has used up its time.",
                advice: "Raise timeoutIntervalForResource if it needs longer."
            )
        case (.overdue(.connect, let phase, let interval), let peer):
            self = .failed(
                .timeoutConnect,
                phase: Phase(phase),
                peer: peer,
                why: "it took longer than \(interval.inWords).",
                advice: "Raise connectTimeout if it may."
            )
        case (.overdue(.tls, let phase, let interval), let peer):
            self = .failed(
                .timeoutHandshake,
                phase: Phase(phase),
                peer: peer,
                why: "it took longer than \(interval.inWords).",
                advice: "Raise tlsTimeout if it may."
            )
        case (.unserved(let report, let interval), let peer):
            self.init(report, peer: peer, interval: interval)
        case (.fault(let words), _): self = .fault(words)
        case (.dial, nil), (.proxy, nil), (.wire, nil), (.channel, nil), (.handshake, nil), (.secured, nil),
            (.cutShort, nil):
            // These do not happen to a request without an endpoint.
            self = .cancelled(phase: .preparing)
        }
    }

    /// What the load was doing in a phase, and why that failed.
    private static func failed(
        _ kind: Kind,
        phase: Phase,
        peer: Endpoint?,
        errno: Int32? = nil,
        why: String,
        advice: String? = nil
    ) -> LoadFailure {
        LoadFailure(
            kind,
            phase: phase,
            errno: errno,
            message: "\(doing(phase)) \(place(peer)) failed: \(why)",
            advice: advice
        )
    }

    private static func doing(_ phase: Phase) -> String {
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

    /// The connection broke, and the peer did not close it properly.
    static func connectionLost(phase: Phase, peer: Endpoint, errno: Int32) -> LoadFailure {
        failed(
            phase == .receivingBody ? .lostBody : .lostReset,
            phase: phase,
            peer: peer,
            errno: errno,
            why: "the connection broke (\(SystemErrorText.of(errno)))."
        )
    }

    /// The peer's message broke a rule, passed a limit or ended early.
    private init(_ error: HTTP1Error, peer: Endpoint) {
        let invalid = "the response is not valid HTTP"
        let (kind, phase, what): (Kind, Phase, String) =
            switch error.kind {
            case .status, .request: (.malformedStatus, .waitingForHead, invalid)
            case .header: (.malformedHeader, .waitingForHead, invalid)
            case .framing: (.malformedFraming, .receivingBody, invalid)
            case .chunk: (.malformedChunk, .receivingBody, invalid)
            case .limit(.headBytes), .limit(.headFields), .limit(.lineBytes), .limit(.taskHeadBytes),
                .limit(.interimResponses):
                (.limit, .waitingForHead, "the response passed a limit")
            case .limit(.chunkExtensionBytes), .limit(.trailerBytes), .limit(.trailerFields):
                (.limit, .receivingBody, "the response passed a limit")
            case .closed(.beforeHead), .closed(.inHead): (.lostHead, .waitingForHead, "the connection was closed")
            case .closed(.inBody): (.lostTruncated, .receivingBody, "the connection was closed")
            }
        self = .failed(
            kind,
            phase: phase,
            peer: peer,
            why: "\(what): \(error.detail).",
            advice: Self.mayBeTLS(error.kind, peer: peer) ? "If the server speaks TLS on this port, use https." : nil
        )
    }

    /// Whether a server that waits for TLS may have answered like this to plain text.
    private static func mayBeTLS(_ kind: HTTP1Error.Kind, peer: Endpoint) -> Bool {
        guard !peer.isSecured, peer.port != 80 else { return false }
        return switch kind {
        case .status, .closed(.beforeHead), .closed(.inHead): true
        default: false
        }
    }

    private init(_ failure: DialFailure, report: DialReport, peer: Endpoint) {
        switch failure {
        case .unresolved(let failure):
            let isMissing = failure.kind == .notFound
            self.init(
                isMissing ? .resourcesNameNotFound : .resourcesNameLookup,
                phase: .resolving,
                message: "Looking up \(peer.host.text) failed: \(EscapedText(failure.message).text).",
                advice: isMissing
                    ? "Check the host of the URL."
                    : failure.isOfProgram
                        ? "Check the nameResolver of the session." : "Check the name service of this machine."
            )
        case .unreachable:
            let way = failure.missingWay(report)
            self.init(
                way?.kind ?? .resources,
                phase: .connecting,
                attempts: report.attempts.map(Attempt.init),
                errno: report.lastErrno,
                message: "Connecting to \(peer.text) failed: \(report.reason).",
                advice: way?.advice ?? "Check that the server runs there and is reachable."
            )
        case .unanswered(let limit): self = .unanswered(peer.text, after: limit, report: report)
        case .forbidden: self = .forbidden(peer.text, report: report)
        }
    }

    /// - Parameter place: The host and port, or proxy, to connect to.
    static func unanswered(_ place: String, after limit: Duration, report: DialReport) -> LoadFailure {
        LoadFailure(
            .timeoutAttempt,
            phase: .connecting,
            attempts: report.attempts.map(Attempt.init),
            message: "Connecting to \(place) failed: no address answered within \(limit.inWords).",
            advice: "Raise connectAttemptTimeout if they need longer."
        )
    }

    /// - Parameter place: The host and port, or proxy, to connect to.
    static func forbidden(_ place: String, report: DialReport) -> LoadFailure {
        LoadFailure(
            .resourcesAddress,
            phase: .connecting,
            attempts: report.attempts.map(Attempt.init),
            message: "Connecting to \(place) failed: the session's addressFilter allows none of its addresses.",
            advice: "If it may be reached, let the filter allow them."
        )
    }

    /// No connection became free for the request.
    private init(_ report: QueueReport, peer: Endpoint?, interval: Duration) {
        let isFull = report.connections >= report.limit
        let holders =
            switch report.holders.count {
            case 0: isFull ? "" : " Other hosts have all connections of the session."
            case 1: " Task \(report.holders[0]) holds a connection."
            default: " Tasks \(report.holders.map(String.init).joined(separator: ", ")) hold connections."
            }
        let wish =
            isFull
            ? "Raise httpMaximumConnectionsPerHost, which is \(report.limit), or end tasks whose responses go on for long"
            : "Raise maximumConnections, or end tasks whose responses go on for long"
        self = .failed(
            report.isQueueTime ? .timeoutQueue : .timeoutIdle,
            phase: .queued,
            peer: peer,
            why: "none became free for \(interval.inWords).\(holders)",
            advice: report.isQueueTime ? "\(wish); or raise queueTimeout." : "\(wish)."
        )
    }
}

extension DialFailure {
    /// The row of a machine that has no way to any address; nil if the server is the problem.
    func missingWay(_ report: DialReport) -> (kind: LoadFailure.Kind, advice: String)? {
        let outcomes = report.attempts.map(\.outcome)
        if !outcomes.isEmpty, outcomes.allSatisfy({ $0 == .cellular }) {
            return (
                .resourcesCellular,
                "Set allowsCellularAccess if the cellular network may be used, or connect to another one."
            )
        }
        let isCutOff = isLackOfNetwork(report) && !report.attempts.contains { $0.errno == EHOSTUNREACH }
        return isCutOff ? (.resourcesNetwork, "This machine has no way there: check its network.") : nil
    }
}

extension DialReport {
    /// The error number of the last attempt that has one.
    var lastErrno: Int32? { attempts.last { $0.errno != nil }?.errno }

    var reason: String { lastErrno.map(SystemErrorText.of) ?? "no address answered" }
}

extension DialAttempt {
    fileprivate var errno: Int32? {
        if case .failed(let error) = outcome { error.code } else { nil }
    }
}

extension LoadFailure.Attempt {
    init(_ attempt: DialAttempt) {
        let outcome: Outcome =
            switch attempt.outcome {
            case .connected: .connected
            case .abandoned: .abandoned
            case .unanswered: .timedOut
            case .forbidden: .forbidden
            case .cellular: .cellular
            case .failed: .failed
            }
        self.init(address: attempt.address.description, outcome: outcome, errno: attempt.errno)
    }
}

extension LoadFailure.Phase {
    fileprivate init(_ phase: TransferPhase) {
        self =
            switch phase {
            case .offline: .waitingForConnectivity
            case .preparing: .preparing
            case .queued: .queued
            case .resolving: .resolving
            case .connecting: .connecting
            case .proxy: .proxy
            case .securing: .tls
            case .sending: .sending
            case .waitingForHead: .waitingForHead
            case .receivingBody: .receivingBody
            }
    }
}
