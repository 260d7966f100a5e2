extension SecurityRules {
    /// The decision by mode, switches and pinned certificates.
    ///
    /// - Parameter domain: The name to check; nil checks none.
    func decide(_ trust: ServerTrust, domain: String?) -> ServerTrustDecision {
        if let refusal = contradiction(domain) ?? unusablePins { return refusal }
        guard let policy = standardPolicy(for: domain) else {
            // Keys pinned without a valid chain are compared without a look at the name.
            guard allowsInvalidCertificates, mode == .publicKey else { return .unnamed(domain ?? "") }
            return decideByKeys(trust, policy: .tlsServer(nil))
        }
        switch mode {
        case .none: return allowsInvalidCertificates ? .accept : .standard(trust.evaluate(policy))
        case .publicKey: return decideByKeys(trust, policy: policy)
        case .certificate: return decideByCertificates(trust, policy: policy)
        }
    }

    /// What a chain is checked for; nil for a name that no certificate can be for.
    private func standardPolicy(for domain: String?) -> TrustPolicy? {
        guard validatesName else { return .basicX509 }
        guard let domain else { return .tlsServer(nil) }
        return PeerName(domain).map { .tlsServer($0) }
    }

    // MARK: - Before any certificate is looked at

    /// A name means nothing in a certificate that no authority and no pin vouches for.
    private func contradiction(_ domain: String?) -> ServerTrustDecision? {
        guard domain != nil, allowsInvalidCertificates, validatesName, mode == .none || pinned.isEmpty else {
            return nil
        }
        return .reject(
            rule: "switches that contradict each other",
            explanation: "a name cannot be validated in a certificate that may be invalid and is not pinned; pin the "
                + "certificate, or set allowInvalidCertificates to false"
        )
    }

    private var unusablePins: ServerTrustDecision? {
        guard mode != .none else { return nil }
        if pinned.isEmpty {
            return .reject(
                rule: "empty set of pins",
                explanation:
                    "the policy pins (\(mode)) but has no pinned certificates, so nothing can match them; give "
                    + "it some, or use the mode none"
            )
        }
        return pinned.problem.map { .reject(rule: "unreadable pin", explanation: "the policy trusts no server: \($0)") }
    }

    // MARK: - Public keys

    private func decideByKeys(_ trust: ServerTrust, policy: TrustPolicy) -> ServerTrustDecision {
        let evaluation = trust.evaluate(policy)
        if let failure = evaluation.failure {
            // What may be forgiven is a missing authority, a date, a name: never a forgery.
            guard allowsInvalidCertificates, failure.reason != .signature else { return .standard(evaluation) }
        }
        guard !evaluation.verifiedChain.contains(where: { pinned.keys.contains($0.pin) }) else { return .accept }
        return .reject(
            rule: "pinned public keys",
            explanation: "no key of the verified chain is pinned. Pinned: \(PinText.list(pinned.keys)). The chain has: "
                + PinText.chain(evaluation.verifiedChain)
        )
    }

    // MARK: - Certificates

    private func decideByCertificates(_ trust: ServerTrust, policy: TrustPolicy) -> ServerTrustDecision {
        if !allowsInvalidCertificates {
            let evaluation = trust.evaluate(policy)
            guard evaluation.isTrusted else { return .standard(evaluation) }
        }
        // The pins are the only authorities now, and one that is no root may end the chain too.
        let pinnedEvaluation = trust.evaluate(policy, anchors: pinned.anchors, allowsPartialChain: true)
        if pinnedEvaluation.isTrusted, pinnedEvaluation.chain.contains(where: { pinned.bytes.contains($0) }) {
            return .accept
        }
        return .reject(rule: "pinned certificates", explanation: explanation(pinnedEvaluation))
    }

    private func explanation(_ evaluation: TrustEvaluation) -> String {
        var text = "the chain is not valid with the pinned certificates as its only authorities"
        if let failure = evaluation.failure { text += ": \(failure.message)" }
        text += ". Pinned: \(PinText.certificates(pinned.certificates)). The server showed: "
        text += PinText.certificates(evaluation.chain)
        if evaluation.chain.contains(where: { pinned.keys.contains($0.pin) && !pinned.bytes.contains($0) }) {
            text += ". A key is the one that is pinned, in another certificate: the mode publicKey would take it"
        }
        return text
    }
}

extension ServerTrustDecision {
    /// What an evaluation means where no pin is asked for.
    static func standard(_ evaluation: TrustEvaluation) -> ServerTrustDecision {
        guard let failure = evaluation.failure else { return .accept }
        return .untrusted(failure)
    }

    static func unnamed(_ host: String) -> ServerTrustDecision {
        .reject(rule: "host name", explanation: "no certificate can be for the host \(host.debugDescription)")
    }
}
