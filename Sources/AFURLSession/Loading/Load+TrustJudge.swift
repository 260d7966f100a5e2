import AFTransport
import AFWire

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
