public import Foundation

/// Somebody wants to be convinced before a request goes on.
public final class URLAuthenticationChallenge: NSObject, Sendable {
    /// Who asks, and how.
    public let protectionSpace: URLProtectionSpace
    /// A credential that may do, if one is known.
    public let proposedCredential: URLCredential?
    /// How many answers were refused before.
    public let previousFailureCount: Int
    /// The response that refused the last one.
    public let failureResponse: URLResponse?
    /// What went wrong the last time.
    public let error: (any Error)?
    /// Takes the answer, in the old way. Of it and the completion handler that came
    /// with the challenge, the first to be called counts.
    public let sender: (any URLAuthenticationChallengeSender)?

    /// A challenge.
    public init(
        protectionSpace space: URLProtectionSpace,
        proposedCredential credential: URLCredential?,
        previousFailureCount: Int,
        failureResponse response: URLResponse?,
        error: (any Error)?,
        sender: any URLAuthenticationChallengeSender
    ) {
        protectionSpace = space
        proposedCredential = credential
        self.previousFailureCount = previousFailureCount
        failureResponse = response
        self.error = error
        self.sender = sender
        super.init()
    }

    /// The same challenge, answered to somebody else.
    public convenience init(
        authenticationChallenge challenge: URLAuthenticationChallenge,
        sender: any URLAuthenticationChallengeSender
    ) {
        self.init(
            protectionSpace: challenge.protectionSpace,
            proposedCredential: challenge.proposedCredential,
            previousFailureCount: challenge.previousFailureCount,
            failureResponse: challenge.failureResponse,
            error: challenge.error,
            sender: sender
        )
    }

    /// Who asks, and how often we failed. Nothing of a credential.
    public override var description: String {
        "URLAuthenticationChallenge(\(protectionSpace), after \(previousFailureCount) refused)"
    }
}

extension URLAuthenticationChallenge: CustomReflectable {
    /// The description alone: a response that refused a password may repeat it.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// Takes the answer to a challenge.
public protocol URLAuthenticationChallengeSender: NSObjectProtocol, Sendable {
    /// Use this credential.
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge)
    /// Go on without one.
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge)
    /// Fail the task.
    func cancel(_ challenge: URLAuthenticationChallenge)
    /// Do as if there were no delegate.
    func performDefaultHandling(for challenge: URLAuthenticationChallenge)
    /// Try another way to be convinced, if there is one.
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge)
}

extension URLSession {
    /// What to do about a challenge.
    public enum AuthChallengeDisposition: Int, Sendable {
        /// Use the credential; without one, go on without.
        case useCredential = 0
        /// Do as if there were no delegate.
        case performDefaultHandling = 1
        /// Fail the task with `URLError.cancelled`.
        case cancelAuthenticationChallenge = 2
        /// Try another way to be convinced, if there is one.
        case rejectProtectionSpace = 3
    }
}
