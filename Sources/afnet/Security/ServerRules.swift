import AFNetworking
import Foundation

/// What a server must have to be talked to: a chain that is trusted, unless `--insecure` says
/// otherwise, and what is pinned.
struct ServerRules: ServerEvaluator {
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

    func evaluate(_ trust: ServerTrust) -> ServerTrustDecision {
        if let policy { return Self.renamed(policy.evaluate(trust)) }
        if verifies, let failure = trust.evaluation.failure { return .untrusted(failure) }
        return refusalByKeys(trust) ?? refusalByCertificates(trust) ?? .accept
    }

    /// Under our name, that of the rule goes into the explanation.
    private static func renamed(_ decision: ServerTrustDecision) -> ServerTrustDecision {
        guard case .reject(let rule, let explanation) = decision else { return decision }
        return .reject(rule: PinRule.policy.rawValue, explanation: "\(rule): \(explanation)")
    }

    private func refusalByKeys(_ trust: ServerTrust) -> ServerTrustDecision? {
        guard !keys.isEmpty else { return nil }
        // What is not verified may stand anywhere in what the server sent; a key it has proven may not.
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

    /// Without TLS no pin is looked at.
    func forbidsPlainText(to host: String) -> Bool {
        !keys.isEmpty || certificates != nil || policy?.forbidsPlainText(to: host) == true
    }
}

/// Rules that let somebody know which server they are asked about.
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

/// The servers that were judged, for `--verbose`.
@MainActor final class TrustLog {
    private var latest: [String: ServerTrust] = [:]

    nonisolated func note(_ trust: ServerTrust) {
        // The way the session's callbacks take, so that it is known before them.
        OperationQueue.main.addOperation {
            MainActor.assumeIsolated { self.latest[Self.key(trust.host)] = trust }
        }
    }

    /// The server of this host, if it was judged since the last time.
    func take(for host: String?) -> ServerTrust? { latest.removeValue(forKey: Self.key(host ?? "")) }

    nonisolated private static func key(_ host: String) -> String {
        host.lowercased().trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
    }
}
