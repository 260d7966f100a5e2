/// Decides inside the handshake whether to trust a server: a server that it refuses has received no byte of a request
/// and no certificate of ours.
///
/// Set one as ``/AFTransport/TLSConfiguration/evaluator``. It then decides in place of the standard evaluation, whose result
/// ``ServerTrust/evaluation`` offers to it. `SecurityPolicy` is one.
public protocol ServerEvaluator: Sendable {
    /// An evaluator that always decides as this one does now. The session asks for it when a task starts, so that a
    /// change applies to every task that starts after it. The default implementation returns the evaluator itself,
    /// which is right for one that does not change.
    ///
    /// The snapshots of an evaluator that changes need a ``fingerprint``, or must be objects: values without one cannot be
    /// compared. The session takes those for equal if they have the type of the evaluator. If they have another type, it
    /// takes each for a change, and makes a new connection for each task.
    func snapshot() -> any ServerEvaluator

    /// Evaluators of one type with equal bytes decide alike: what one accepted may serve the other. Nil, the default
    /// implementation, says nothing about the decisions: then the session makes a full handshake for every connection.
    /// ``TrustFingerprint`` makes the bytes.
    var fingerprint: [UInt8]? { get }

    /// The decision. The session calls this on the network thread, which serves all sessions: it must be quick, must
    /// not wait for anything, and should depend on nothing but its argument. Leave what takes time to a delegate.
    func evaluate(_ trust: ServerTrust) -> ServerTrustDecision

    /// Tells the observer of each change of its decisions from now on, before the change returns. The evaluator holds the
    /// observer weakly. The default implementation does nothing, which is right for an evaluator that does not change.
    ///
    /// A session adds an observer to its evaluator, so that a change holds for every request that has not begun, also for
    /// one that waits. If an evaluator changes without a word, the session only notices when a task starts. An evaluator
    /// that asks another one passes the observer on to it.
    func add(_ observer: any ServerEvaluatorObserver)

    /// Whether the session must not talk to this host without TLS, where it never asks an evaluator: a request for it
    /// over plain http fails before a connection is made. The default implementation says no.
    func forbidsPlainText(to host: String) -> Bool
}

extension ServerEvaluator {
    /// The evaluator itself.
    public func snapshot() -> any ServerEvaluator { self }

    /// No fingerprint: the session makes a full handshake for every connection.
    public var fingerprint: [UInt8]? { nil }

    /// Does nothing: the evaluator does not change.
    public func add(_ observer: any ServerEvaluatorObserver) {}

    /// Allows plain http for every host.
    public func forbidsPlainText(to host: String) -> Bool { false }
}

/// What must know at once that an evaluator decides by other rules.
public protocol ServerEvaluatorObserver: AnyObject, Sendable {
    /// The evaluator has changed. Called on the thread that has changed it, without a lock.
    func evaluatorDidChange()
}

/// An evaluator that may take its time: the handshake calls it on another thread, and waits for it as long as for a
/// delegate.
package protocol BlockingServerEvaluator: ServerEvaluator {}

/// What an evaluator says of a server.
@nonexhaustive
public enum ServerTrustDecision: Hashable, Sendable {
    /// The server is trusted.
    case accept
    /// The chain is not trusted, for the reason an evaluation of it gave.
    case untrusted(TrustFailure)
    /// A rule of the evaluator's own fails: which one, in a few words, and what is wrong, in a sentence.
    case reject(rule: String, explanation: String)
}
