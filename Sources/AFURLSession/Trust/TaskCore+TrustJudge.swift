import AFTransport
import AFWire

extension TaskCore {
    /// Who would answer challenges of trust and identity for the task, as far as that is known before a question is put:
    /// nil is the session's delegate, or none at all.
    ///
    /// A delegate of the task's own that may have a method for challenges counts as if it had one. That it has none is
    /// known once it has been asked.
    var trustJudge: TrustJudge? {
        guard let own = ownDelegate, own !== session.delegate, !session.answersChallenges,
            !session.isMissing(.receivedTaskChallenge, in: own)
        else { return nil }
        if let own = own as? any TrustJudging { return own.trustJudge }
        return .own(session.delegateNumbers.number(of: own))
    }

    /// The same for a request to this place: nil in the clear, where there is nothing to ask.
    func trustJudge(for endpoint: Endpoint) -> TrustJudge? {
        endpoint.scheme == .https ? trustJudge : nil
    }
}
