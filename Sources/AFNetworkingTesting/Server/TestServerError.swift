public import Foundation

/// What a `TestServer` throws.
public enum TestServerError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// The server could not listen; the text names the system call and its error.
    case cannotListen(ListenAddress, reason: String)
    /// TLS could not be set up as asked.
    case cannotUseTLS(reason: String)
    /// What was waited for did not happen in time.
    case timedOut(waitingFor: String, seen: String)

    /// The error in one sentence.
    public var description: String {
        switch self {
        case .cannotListen(let address, let reason): "The test server cannot listen on \(address): \(reason)"
        case .cannotUseTLS(let reason): "The test server cannot use TLS: \(reason)"
        case .timedOut(let goal, let seen): "The test server waited for \(goal) in vain; so far it saw \(seen)"
        }
    }

    /// The description.
    public var errorDescription: String? { description }
}
