package import AFLoop
import AFTransport
import Glibc

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
