package import AFLoop
import AFTransport
package import AFWire
import Glibc

/// Turns limits that were passed into failures.
extension LoadFailure {
    package static func overdue(_ timeout: NamedTimeout, phase: Phase, peer: Endpoint?, interval: Duration)
        -> LoadFailure
    {
        let (detail, setting): (Detail, String) =
            switch timeout {
            case .connect: (.connect, "connectTimeout")
            case .tls: (.handshake, "tlsTimeout")
            }
        return LoadFailure(
            .timeout,
            detail: detail,
            phase: phase,
            message: "\(doing(phase)) \(peer?.text ?? "the server") failed: it took longer than \(interval.inWords).",
            advice: "Raise \(setting) if it may."
        )
    }

    /// No connection became free for the request.
    package static func unserved(_ report: QueueReport, peer: Endpoint?, interval: Duration) -> LoadFailure {
        let server = peer?.text ?? "the server"
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
        return LoadFailure(
            .timeout,
            detail: report.isQueueTime ? .queue : .idle,
            phase: .queued,
            message: "\(doing(.queued)) \(server) failed: none became free for \(interval.inWords).\(holders)",
            advice: report.isQueueTime ? "\(wish); or raise queueTimeout." : "\(wish)."
        )
    }

    /// - Parameter place: The host and port, or socket, to connect to.
    package static func unanswered(_ place: String, after limit: Duration, report: DialReport) -> LoadFailure {
        LoadFailure(
            .timeout,
            detail: .attempt,
            phase: .connecting,
            attempts: report.attempts.map(Attempt.init),
            message: "Connecting to \(place) failed: no address answered within \(limit.inWords).",
            advice: "Raise connectAttemptTimeout if they need longer."
        )
    }

    /// - Parameter place: The host and port, or socket, to connect to.
    static func forbidden(_ place: String, report: DialReport) -> LoadFailure {
        LoadFailure(
            .resources,
            detail: .address,
            phase: .connecting,
            attempts: report.attempts.map(Attempt.init),
            message: "Connecting to \(place) failed: the session's addressFilter allows none of its addresses.",
            advice: "If it may be reached, let the filter allow them."
        )
    }

    /// Adds the other facts of the exchange: its timings, and the addresses that were tried before a timeout.
    package mutating func add(_ account: LoadAccount) {
        timings = account.timings
        if reason == .timeout, attempts.isEmpty, [.resolving, .connecting, .proxy, .tls].contains(phase) {
            attempts = account.attempts.map(Attempt.init)
        }
    }
}

extension DialFailure {
    /// The detail if this machine has no way to any address; nil if the server is the problem.
    func wayMissing(_ report: DialReport) -> LoadFailure.Detail? {
        let outcomes = report.attempts.map(\.outcome)
        if !outcomes.isEmpty, outcomes.allSatisfy({ $0 == .cellular }) { return .cellular }
        guard isLackOfNetwork(report) else { return nil }
        let isUnreachable = outcomes.allSatisfy { outcome in
            if case .failed(let error) = outcome { error.code != EHOSTUNREACH } else { true }
        }
        return isUnreachable ? .network : nil
    }
}

extension Duration {
    package var inSeconds: Double { Double(saturatingNanoseconds) / 1e9 }

    /// The duration for people: two significant digits, and no fraction from ten seconds on.
    package var inWords: String {
        let seconds = inSeconds
        let parts: Double =
            switch seconds {
            case 9.95...: 1
            case 0.995...: 10
            case 0.0995...: 100
            default: 1000
            }
        let text = "\((seconds * parts).rounded() / parts)"
        let number = text.hasSuffix(".0") ? String(text.dropLast(2)) : text
        return number == "1" ? "1 second" : "\(number) seconds"
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
    package func isLackOfNetwork(_ report: DialReport) -> Bool {
        switch self {
        case .unresolved(let failure): failure.kind == .unavailable
        case .unreachable: !report.attempts.isEmpty && report.attempts.allSatisfy(\.isLackOfNetwork)
        case .unanswered, .forbidden: false
        }
    }
}

extension DialAttempt {
    /// Whether this machine has no route to the address: not now, or not by a network that the session may use.
    package var isLackOfNetwork: Bool {
        switch outcome {
        case .failed(let error): [ENETUNREACH, ENETDOWN, EHOSTUNREACH, ENONET].contains(error.code)
        case .cellular: true
        case .connected, .abandoned, .unanswered, .forbidden: false
        }
    }
}
