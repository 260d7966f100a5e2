public import Foundation

/// An error of a `TestServer` or a `TestProxy`.
@nonexhaustive
public enum TestServerError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// The server could not listen; the text names the system call and its error.
    case cannotListen(ListenAddress, reason: String)
    /// OpenSSL refuses the TLS settings; the text says why.
    case cannotUseTLS(reason: String)
    /// A wait timed out.
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
