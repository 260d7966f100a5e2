import AFLoop
import AFTransport
import AFWire
import Glibc

extension LoadError {
    /// Whether the bytes that arrived before the error can be trusted and are worth keeping.
    package var leavesPart: Bool {
        switch self {
        case .transfer(let error): error.leavesPart
        case .file, .brokenRest, .unanswered: true
        case .rejected, .redirect, .plainTextForbidden, .cancelled, .bodyTooLong, .content, .notCached,
            .proxyMisconfigured, .sessionInvalidated, .forked, .noThread, .unaskedPart, .resumeData, .foreign, .local,
            .webSocket, .stream, .refused, .parts, .fault:
            false
        }
    }
}

extension TransferError {
    fileprivate var leavesPart: Bool {
        switch self {
        case .dial, .proxy, .handshake, .secured, .cutShort, .channel, .timedOut, .unserved, .outOfTime, .overdue: true
        case .wire(let error): error.kind.isEnd
        case .body, .impossibleSocketPath, .fault: false
        }
    }
}

extension HTTP1Error.Kind {
    /// The peer has closed the connection early, and broken no rule.
    fileprivate var isEnd: Bool {
        if case .closed = self { true } else { false }
    }
}

extension LoadError {
    /// Whether nothing was sent because this machine has no route to the server or the proxy.
    package var isLackOfNetwork: Bool {
        switch self {
        case .transfer(.dial(let failure, let report)): failure.isLackOfNetwork(report)
        case .transfer(.proxy(let failure)):
            if case .dial(let cause, let report) = failure.cause { cause.isLackOfNetwork(report) } else { false }
        default: false
        }
    }
}

extension DialFailure {
    func isLackOfNetwork(_ report: DialReport) -> Bool {
        switch self {
        case .unresolved(let failure): failure.kind == .unavailable
        case .unreachable: !report.attempts.isEmpty && report.attempts.allSatisfy(\.isLackOfNetwork)
        case .unanswered, .forbidden: false
        }
    }
}

extension DialAttempt {
    /// Whether this machine has no route to the address: not now, or not by a network that the session may use.
    var isLackOfNetwork: Bool {
        switch outcome {
        case .failed(let error): [ENETUNREACH, ENETDOWN, EHOSTUNREACH, ENONET].contains(error.code)
        case .cellular: true
        case .connected, .abandoned, .unanswered, .forbidden: false
        }
    }
}
