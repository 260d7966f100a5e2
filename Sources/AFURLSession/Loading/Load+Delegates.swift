import AFTransport
import AFWire

// Who hears of a load.

extension Load {
    /// The task's own delegate.
    var ownDelegate: (any URLSessionTaskDelegate)? {
        guard let listener else { return nil }
        return (listener as? DelegatePair)?.own ?? listener
    }

    /// The task's own delegate in this role, if it has one.
    func listener<Kind>(as kind: Kind.Type) -> Kind? {
        guard let listener else { return nil }
        if let pair = listener as? DelegatePair, !pair.has(kind) { return nil }
        return listener as? Kind
    }

    /// The delegate, and the handle to call it with. The task calls its own delegate in place of the session's, where
    /// that has the method.
    var taskDelegate: (delegate: any URLSessionTaskDelegate, task: URLSessionTask)? {
        guard let handle, let delegate = listener ?? session.taskDelegate else { return nil }
        return (delegate, handle)
    }

    /// The same for the bodies of responses.
    var dataDelegate: (delegate: any URLSessionDataDelegate, task: URLSessionDataTask)? {
        guard let task = handle as? URLSessionDataTask else { return nil }
        return (listener(as: (any URLSessionDataDelegate).self) ?? session.dataDelegate).map { ($0, task) }
    }
}

extension Load {
    /// The delegate that would answer challenges of trust and identity for the task, as far as the session knows before
    /// it asks: nil is the session's delegate, or none at all.
    ///
    /// A delegate of the task's own counts as one that answers until the session has called it once: only then it knows
    /// that the delegate does not implement the method.
    var trustJudge: TrustJudge? {
        guard let own = ownDelegate, own !== session.delegate, !session.answersChallenges,
            !session.isMissing(.receivedTaskChallenge, in: own)
        else { return nil }
        if let own = own as? any TrustJudging { return own.trustJudge }
        return .own(session.delegateNumbers.number(of: own))
    }

    /// The same for a request to this place: nil without TLS, where there is nothing to decide.
    func trustJudge(for endpoint: Endpoint) -> TrustJudge? {
        endpoint.scheme == .https ? trustJudge : nil
    }
}
