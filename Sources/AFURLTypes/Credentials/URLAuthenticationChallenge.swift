public import Foundation

/// A question of a server or proxy that a task must answer before its request goes on.
public final class URLAuthenticationChallenge: NSObject, Sendable {
    /// The place that asks, and its method.
    public let protectionSpace: URLProtectionSpace
    /// A credential that may be accepted, if one is known.
    public let proposedCredential: URLCredential?
    /// How many answers were refused before.
    public let previousFailureCount: Int
    /// The response that refused the last answer.
    public let failureResponse: URLResponse?
    /// The error of the last attempt.
    public let error: (any Error)?
    /// Takes the answer in the way of `NSURLConnection`. Of the sender and the completion handler that came with the
    /// challenge, the first one that is called counts.
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

    /// The same challenge with another sender, which takes the answer.
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

    /// The place that asks, and how many answers were refused. It contains no credential.
    public override var description: String {
        "URLAuthenticationChallenge(\(protectionSpace), after \(previousFailureCount) refused)"
    }
}

extension URLAuthenticationChallenge: CustomReflectable {
    /// The description only: a response that refused a password may repeat it.
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
    /// Do what happens without a delegate.
    func performDefaultHandling(for challenge: URLAuthenticationChallenge)
    /// Try another method, if the server offers one.
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge)
}
