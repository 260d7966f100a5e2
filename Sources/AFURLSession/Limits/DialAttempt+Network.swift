import AFLoop
import Glibc

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
