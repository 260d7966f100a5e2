public import AFTLS

/// Decides whether a server is to be trusted, inside the handshake: a server that is
/// refused has received no byte of a request and no certificate of ours.
///
/// Set one as ``TLSConfiguration/evaluator``. It is the authority then: what
/// ``ServerTrust/evaluation`` says is offered to it, not imposed. `SecurityPolicy` is
/// one.
public protocol ServerEvaluator: Sendable {
    /// An evaluator that always decides as this one does now. Asked when a task
    /// starts, so that a change meets every task that starts after it. The
    /// implementation provided returns the evaluator itself, which is right for one
    /// that does not change.
    func snapshot() -> any ServerEvaluator

    /// Evaluators with equal bytes decide alike: what one accepted may serve the
    /// other. Nil, the implementation provided, means that nothing is known of the
    /// decisions: then every connection gets a full handshake. ``TrustFingerprint`` makes them.
    var fingerprint: [UInt8]? { get }

    /// The decision. Called on the network thread, which serves all sessions: it must
    /// be quick, must not wait for anything, and should depend on nothing but its
    /// argument. What takes time is for a delegate.
    func evaluate(_ trust: ServerTrust) -> ServerTrustDecision

    /// Whether this host must not be talked to without TLS, where no evaluator is ever
    /// asked: a request for it over plain http fails before a connection is made. The
    /// implementation provided says no.
    func forbidsPlainText(to host: String) -> Bool
}

extension ServerEvaluator {
    /// The evaluator itself.
    public func snapshot() -> any ServerEvaluator { self }

    /// Nothing is known.
    public var fingerprint: [UInt8]? { nil }

    /// Plain http is nobody's business.
    public func forbidsPlainText(to host: String) -> Bool { false }
}

/// An evaluator that may take its time: it is asked on another thread, and the handshake waits for it as long as for a
/// delegate.
package protocol BlockingServerEvaluator: ServerEvaluator {}

/// What an evaluator says of a server.
public enum ServerTrustDecision: Hashable, Sendable {
    /// The server is trusted.
    case accept
    /// The chain is not trusted, for the reason an evaluation of it gave.
    case untrusted(TrustFailure)
    /// A rule of the evaluator's own fails: which one, in a few words, and what is wrong, in a sentence.
    case reject(rule: String, explanation: String)
}
