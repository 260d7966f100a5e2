package import AFLoop
import AFTransport
package import AFWire
package import Foundation

extension LoadError {
    /// The error that a task reports.
    ///
    /// - Parameter remark: A remark to add to the message.
    package func urlError(
        for url: URL?,
        peer: Endpoint? = nil,
        account: LoadAccount? = nil,
        remark: String? = nil
    ) -> URLError {
        var failure = failure(peer)
        if let account { failure.add(account) }
        if let remark, !remark.isEmpty, failure.reason != .cancelled { failure.message += " \(remark)" }
        return ErrorMapping.error(failure, url: url)
    }

    private func failure(_ peer: Endpoint?) -> LoadFailure {
        switch (self, peer) {
        case (.transfer(let error), let peer): error.failure(peer)
        case (.rejected(let rejection), _): LoadFailure(rejection)
        case (.plainTextForbidden, let peer):
            LoadFailure(
                .request,
                detail: .scheme,
                phase: .preparing,
                message: "The request was not sent: the session's evaluator pins \(peer?.host.text ?? "the host"), and "
                    + "over plain http no certificate is looked at.",
                advice: "Use https, or exempt the host from the pins."
            )
        case (.proxyMisconfigured(let error), _): LoadFailure(error)
        case (.cancelled, _): .cancelled(phase: .delivering)
        case (.bodyTooLong(let limit), _):
            LoadFailure(
                .limit,
                phase: .receivingBody,
                message: "The body is longer than \(limit) bytes.",
                advice: "Raise maximumBodyInMemory, or receive it with a delegate."
            )
        case (.content(let failure), let peer): LoadFailure(failure, peer: peer)
        case (.unanswered(let missing), let peer): .unanswered(missing, peer: peer)
        case (.notCached, _):
            LoadFailure(
                .cache,
                phase: .preparing,
                message: "Nothing is cached for the request, and its cache policy forbids loading it."
            )
        case (.redirect(let failure), let peer): LoadFailure(failure, from: peer)
        case (.file(let failure), let peer): LoadFailure(failure, peer: peer)
        case (.unaskedPart(let status), let peer): .unaskedPart(status, from: peer)
        case (.brokenRest, let peer): .brokenRest(from: peer)
        case (.resumeData(let flaw), _): LoadFailure(flaw)
        case (.sessionInvalidated, _):
            LoadFailure(
                .cancelled,
                detail: .invalidated,
                phase: .preparing,
                message: "The session was invalidated before the task was resumed.",
                advice: "Make the task in a new session."
            )
        case (.foreign(let error), _):
            LoadFailure(
                .resources,
                phase: .receivingBody,
                message: "Loading failed: a protocol class or an interceptor of the program says so.",
                underlyingError: error
            )
        case (.stream(let failure), let peer): LoadFailure(failure, peer: peer)
        case (.webSocket(let failure), let peer): LoadFailure(failure, peer: peer)
        case (.refused(let refusal), _): LoadFailure(refusal)
        case (.local(let failure), _): LoadFailure(failure)
        case (.forked, _):
            LoadFailure(
                .resources,
                phase: .preparing,
                message: "This process was forked: the network thread stayed in the parent.",
                advice: "Call exec first."
            )
        case (.fault(let words), _): .fault(words)
        case (.noThread(let error), _):
            LoadFailure(
                .resources,
                phase: .preparing,
                errno: error.code,
                message: "The network thread could not be started: \(error).",
                advice: "Raise the limit on threads, or try again."
            )
        }
    }
}

extension LoadFailure {
    /// A defect of this library, in these words.
    static func fault(_ words: String) -> LoadFailure {
        LoadFailure(
            .fault,
            phase: .preparing,
            message: "The task ended because of a defect of this library (\(words)).",
            advice: "Please report it with this text, and with what a monitor prints of the task."
        )
    }
}

extension TransferError {
    fileprivate func failure(_ peer: Endpoint?) -> LoadFailure {
        switch (self, peer) {
        case (.body(let failure), let peer): LoadFailure(failure, peer: peer)
        case (.impossibleSocketPath, _):
            LoadFailure(
                .request,
                phase: .preparing,
                message: """
                    The request was not sent: unixDomainSocketPath must have 1 to 107 bytes and no NUL, and a place of \
                    hostOverrides no zone that this machine does not have.
                    """
            )
        case (.dial(let failure, let report), let peer?): LoadFailure(failure, report: report, peer: peer)
        case (.proxy(let failure), let peer?): LoadFailure(failure, peer: peer)
        case (.handshake(let failure), let peer?): LoadFailure(failure, peer: peer)
        case (.secured(let failure, let phase, let identification), let peer?):
            LoadFailure(failure, phase: phase.public, identification: identification, trust: nil, peer: peer)
        case (.cutShort, let peer?):
            LoadFailure(
                .lost,
                detail: .truncated,
                phase: .receivingBody,
                message: "Receiving the body from \(peer.text) failed: the connection ended without close_notify, and "
                    + "nothing else says that the body was complete. It may have been cut short on the way."
            )
        case (.wire(let error), let peer?):
            LoadFailure(error, phase: error.kind.isHeadless ? .waitingForHead : .receivingBody, peer: peer)
        case (.channel(let error, let phase), let peer?):
            .connectionLost(phase: phase.public, peer: peer, errno: error.code)
        case (.timedOut(let phase, let interval), let peer):
            .timeout(phase: phase.public, peer: peer, interval: interval)
        case (.unserved(let report, let interval), let peer):
            .unserved(report, peer: peer, interval: interval)
        case (.overdue(let timeout, let phase, let interval), let peer):
            .overdue(timeout, phase: phase.public, peer: peer, interval: interval)
        case (.outOfTime(let phase), let peer): .outOfTime(phase: phase.public, peer: peer)
        case (.fault(let words), _): .fault(words)
        case (.dial, nil), (.proxy, nil), (.wire, nil), (.channel, nil), (.handshake, nil), (.secured, nil),
            (.cutShort, nil):
            // These do not happen to a request without an endpoint.
            .cancelled(phase: .preparing)
        }
    }
}

extension LoadFailure {
    fileprivate init(_ failure: DialFailure, report: DialReport, peer: Endpoint) {
        switch failure {
        case .unresolved(let failure):
            self = .cannotResolve(peer, isKnownMissing: failure.kind == .notFound, explanation: failure.message)
        case .unreachable:
            let attempts = report.attempts.map(LoadFailure.Attempt.init)
            let errno = attempts.last { $0.errno != nil }?.errno
            self = .cannotConnect(peer, detail: failure.wayMissing(report), attempts: attempts, errno: errno)
        case .unanswered(let limit): self = .unanswered(peer.text, after: limit, report: report)
        case .forbidden: self = .forbidden(peer.text, report: report)
        }
    }
}

extension LoadFailure.Attempt {
    package init(_ attempt: DialAttempt) {
        switch attempt.outcome {
        case .connected: self.init(address: attempt.address.description, outcome: .connected)
        case .abandoned: self.init(address: attempt.address.description, outcome: .abandoned)
        case .unanswered: self.init(address: attempt.address.description, outcome: .timedOut)
        case .forbidden: self.init(address: attempt.address.description, outcome: .forbidden)
        case .cellular: self.init(address: attempt.address.description, outcome: .cellular)
        case .failed(let error):
            self.init(address: attempt.address.description, outcome: .failed, errno: error.code)
        }
    }
}

extension TransferPhase {
    fileprivate var `public`: LoadFailure.Phase {
        switch self {
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

extension HTTP1Error.Kind {
    /// Whether the error occurred before the head was complete.
    fileprivate var isHeadless: Bool {
        switch self {
        case .status, .request, .header, .closed(.beforeHead), .closed(.inHead): true
        case .limit(.headBytes), .limit(.headFields), .limit(.lineBytes), .limit(.taskHeadBytes): true
        case .limit(.interimResponses): true
        case .limit(.chunkExtensionBytes), .limit(.trailerBytes), .limit(.trailerFields): false
        case .framing, .chunk, .closed(.inBody): false
        }
    }
}
