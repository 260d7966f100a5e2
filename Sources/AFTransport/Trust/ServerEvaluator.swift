public import AFTLS

/// Decides inside the handshake whether to trust a server: a server that it refuses has received no byte of a request
/// and no certificate of ours.
///
/// Set one as ``TLSConfiguration/evaluator``. It then decides in place of the standard evaluation, whose result
/// ``ServerTrust/evaluation`` offers to it. `SecurityPolicy` is one.
public protocol ServerEvaluator: Sendable {
    /// An evaluator that always decides as this one does now. The session asks for it when a task starts, so that a
    /// change applies to every task that starts after it. The default implementation returns the evaluator itself,
    /// which is right for one that does not change.
    func snapshot() -> any ServerEvaluator

    /// Evaluators with equal bytes decide alike: what one accepted may serve the other. Nil, the default
    /// implementation, says nothing about the decisions: then the session makes a full handshake for every connection.
    /// ``TrustFingerprint`` makes the bytes.
    var fingerprint: [UInt8]? { get }

    /// The decision. The session calls this on the network thread, which serves all sessions: it must be quick, must
    /// not wait for anything, and should depend on nothing but its argument. Leave what takes time to a delegate.
    func evaluate(_ trust: ServerTrust) -> ServerTrustDecision

    /// Whether the session must not talk to this host without TLS, where it never asks an evaluator: a request for it
    /// over plain http fails before a connection is made. The default implementation says no.
    func forbidsPlainText(to host: String) -> Bool
}

extension ServerEvaluator {
    /// The evaluator itself.
    public func snapshot() -> any ServerEvaluator { self }

    /// No fingerprint: the session makes a full handshake for every connection.
    public var fingerprint: [UInt8]? { nil }

    /// Allows plain http for every host.
    public func forbidsPlainText(to host: String) -> Bool { false }
}

/// An evaluator that may take its time: the handshake calls it on another thread, and waits for it as long as for a
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
