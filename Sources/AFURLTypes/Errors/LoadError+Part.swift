import AFTransport
import AFWire

extension LoadError {
    /// Whether the bytes that arrived before the error can be trusted and are worth keeping.
    package var leavesPart: Bool {
        switch self {
        case .transfer(let error): error.leavesPart
        case .file, .brokenRest, .unanswered: true
        case .rejected, .redirect, .plainTextForbidden, .cancelled, .bodyTooLong, .content, .notCached,
            .proxyMisconfigured, .sessionInvalidated, .forked, .noThread, .unaskedPart, .resumeData, .foreign, .local,
            .webSocket, .stream, .refused, .fault:
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
