import AFLoop
import Glibc

extension DialAttempt {
    /// There is no way from this machine to the address: not now, or not by a network that may be used.
    var isLackOfNetwork: Bool {
        switch outcome {
        case .failed(let error): [ENETUNREACH, ENETDOWN, EHOSTUNREACH, ENONET].contains(error.code)
        case .cellular: true
        case .connected, .abandoned, .unanswered, .forbidden: false
        }
    }
}
