/// A policy as it was at one time.
final class FrozenSecurityPolicy: ServerTrustEvaluating {
    let rules: SecurityRules
    let fingerprint: [UInt8]?

    init(_ rules: SecurityRules) {
        self.rules = rules
        fingerprint = rules.fingerprint
    }

    func evaluate(_ trust: ServerTrust) -> ServerTrustDecision {
        decide(trust, domain: trust.host)
    }

    func decide(_ trust: ServerTrust, domain: String?) -> ServerTrustDecision {
        rules.decide(trust, domain: domain)
    }

    func forbidsPlainText(to host: String) -> Bool {
        rules.mode != .none
    }
}
