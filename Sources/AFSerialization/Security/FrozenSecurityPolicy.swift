/// A policy as it was at one time.
package final class FrozenSecurityPolicy: ServerEvaluator {
    let rules: SecurityRules
    let hosts: HostRuleIndex
    package let isPinning: Bool
    package let fingerprint: [UInt8]?
    private let reporter: PinReporter

    init(rules: SecurityRules, reporter: PinReporter) {
        self.rules = rules
        hosts = HostRuleIndex(rules.hostRules)
        isPinning = rules.isPinning
        self.reporter = reporter
        fingerprint = rules.fingerprint
    }

    package func evaluate(_ trust: ServerTrust) -> ServerTrustDecision {
        decide(trust, domain: trust.host)
    }

    package func decide(_ trust: ServerTrust, domain: String?) -> ServerTrustDecision {
        guard let verdict = decideByHost(trust, host: domain ?? trust.host) else {
            return rules.decide(trust, domain: domain)
        }
        if let report = verdict.report { reporter.post(report) }
        return verdict.decision
    }

    package func forbidsPlainText(to host: String) -> Bool {
        pins(host)
    }
}
