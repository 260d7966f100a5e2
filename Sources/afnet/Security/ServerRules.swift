import AFNetworking

/// What a server must have to be talked to: a chain that is trusted, unless `--insecure` says
/// otherwise, and what is pinned.
struct ServerRules: ServerEvaluator {
    // The names of our own refusals, which nobody else gives: they tell a wrong pin from everything else.
    private static let keyRule = "afnet --pin"
    private static let certificateRule = "afnet --pinned-cert"
    private static let policyRule = "afnet --policy"

    let verifies: Bool
    /// One of them must be in the proven part of the chain; none: no key is asked for.
    let keys: Set<PublicKeyPin>
    private let certificates: SecurityPolicy?
    /// Which hosts must show what.
    private let policy: SecurityPolicy?

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

    /// Whether a refusal under this name is for want of a pin.
    static func asksForPins(_ rule: String?) -> Bool {
        [keyRule, certificateRule, policyRule].contains(rule)
    }

    func evaluate(_ trust: ServerTrust) -> ServerTrustDecision {
        if let policy { return Self.renamed(policy.evaluate(trust)) }
        if verifies, let failure = trust.evaluation.failure { return .untrusted(failure) }
        return refusalByKeys(trust) ?? refusalByCertificates(trust) ?? .accept
    }

    /// Under our name, that of the rule goes into the explanation.
    private static func renamed(_ decision: ServerTrustDecision) -> ServerTrustDecision {
        guard case .reject(let rule, let explanation) = decision else { return decision }
        return .reject(rule: policyRule, explanation: "\(rule): \(explanation)")
    }

    private func refusalByKeys(_ trust: ServerTrust) -> ServerTrustDecision? {
        guard !keys.isEmpty else { return nil }
        // What is not verified may stand anywhere in what the server sent; a key it has proven may not.
        let chain = (verifies ? trust.evaluation : trust.evaluate(.basicX509)).verifiedChain
        guard !chain.contains(where: { keys.contains($0.pin) }) else { return nil }
        let pinned = Self.list(keys.map(\.description).sorted())
        return .reject(
            rule: Self.keyRule,
            explanation: "no key of its verified chain is pinned. Pinned: \(pinned). The chain has: "
                + Self.list(chain.map { "\($0.pin) (\($0.summary))" })
        )
    }

    private func refusalByCertificates(_ trust: ServerTrust) -> ServerTrustDecision? {
        switch certificates?.evaluate(trust) {
        case nil, .accept: nil
        case .untrusted(let failure): .reject(rule: Self.certificateRule, explanation: failure.message)
        case .reject(_, let explanation): .reject(rule: Self.certificateRule, explanation: explanation)
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

    /// Without TLS no pin is looked at.
    func forbidsPlainText(to host: String) -> Bool {
        !keys.isEmpty || certificates != nil || policy?.forbidsPlainText(to: host) == true
    }
}
