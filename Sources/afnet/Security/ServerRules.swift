import AFNetworking

/// Which servers afnet accepts: those with a trusted chain, unless there is `--insecure`, and with the
/// pinned keys or certificates.
struct ServerRules: ServerEvaluator {
    let verifies: Bool
    /// One of these keys must be in the verified chain. Empty if no key is pinned.
    let keys: Set<PublicKeyPin>
    private let certificates: SecurityPolicy?
    /// The rules of `--policy`.
    let policy: SecurityPolicy?

    init(verifies: Bool, keys: Set<PublicKeyPin>, certificates: [Certificate], policy: SecurityPolicy? = nil) {
        self.verifies = verifies
        self.keys = keys
        self.policy = policy
        guard !certificates.isEmpty else {
            self.certificates = nil
            return
        }
        let policy = SecurityPolicy(pinningMode: .certificate, certificates: certificates)
        policy.allowInvalidCertificates = !verifies
        policy.validatesDomainName = verifies
        self.certificates = policy
    }

    func evaluate(_ trust: ServerTrust) -> ServerTrustDecision {
        if let policy { return Self.renamed(policy.evaluate(trust)) }
        if verifies, let failure = trust.evaluation.failure { return .untrusted(failure) }
        return refusalByKeys(trust) ?? refusalByCertificates(trust) ?? .accept
    }

    /// The decision under afnet's rule name; the policy's own goes into the explanation.
    private static func renamed(_ decision: ServerTrustDecision) -> ServerTrustDecision {
        guard case .reject(let rule, let explanation) = decision else { return decision }
        return .reject(rule: PinRule.policy.rawValue, explanation: "\(rule): \(explanation)")
    }

    private func refusalByKeys(_ trust: ServerTrust) -> ServerTrustDecision? {
        guard !keys.isEmpty else { return nil }
        // Only keys of the verified chain count: an attacker can send any other certificate along.
        let chain = (verifies ? trust.evaluation : trust.evaluate(.basicX509)).verifiedChain
        guard !chain.contains(where: { keys.contains($0.pin) }) else { return nil }
        let pinned = Self.list(keys.map(\.description).sorted())
        return .reject(
            rule: PinRule.key.rawValue,
            explanation: "no key of its verified chain is pinned. Pinned: \(pinned). The chain has: "
                + Self.list(chain.map { "\($0.pin) (\($0.summary))" })
        )
    }

    private func refusalByCertificates(_ trust: ServerTrust) -> ServerTrustDecision? {
        switch certificates?.evaluate(trust) {
        case nil, .accept: nil
        case .untrusted(let failure): .reject(rule: PinRule.certificate.rawValue, explanation: failure.message)
        case .reject(_, let explanation): .reject(rule: PinRule.certificate.rawValue, explanation: explanation)
        }
    }

    private static func list(_ items: [String]) -> String {
        let shown = items.prefix(6).joined(separator: ", ")
        return items.count > 6 ? "\(shown) and \(items.count - 6) more" : shown
    }

    // MARK: - For the session

    var fingerprint: [UInt8]? {
        var fingerprint = TrustFingerprint("afnet.ServerRules")
        fingerprint.add([verifies ? 1 : 0])
        fingerprint.add(certificates?.fingerprint ?? [])
        fingerprint.add(policy?.fingerprint ?? [])
        for key in keys.map(\.description).sorted() { fingerprint.add(key.utf8) }
        return fingerprint.bytes
    }

    /// Pins need TLS.
    func forbidsPlainText(to host: String) -> Bool {
        !keys.isEmpty || certificates != nil || policy?.forbidsPlainText(to: host) == true
    }
}

/// Rules that pass on each server that they judge.
struct WatchedRules: ServerEvaluator {
    let rules: ServerRules
    let seen: @Sendable (ServerTrust) -> Void

    var fingerprint: [UInt8]? { rules.fingerprint }

    func evaluate(_ trust: ServerTrust) -> ServerTrustDecision {
        seen(trust)
        return rules.evaluate(trust)
    }

    func forbidsPlainText(to host: String) -> Bool { rules.forbidsPlainText(to: host) }
}
