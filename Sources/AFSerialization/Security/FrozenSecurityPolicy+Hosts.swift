extension FrozenSecurityPolicy {
    /// The decision about a server by the rule for its host.
    struct HostVerdict {
        var decision: ServerTrustDecision
        /// The rule is not met, whether or not the server is refused for it.
        var report: PinningReport?
    }

    /// The decision by the rule for the host; nil if there is none and need not be one.
    ///
    /// The switches of the policy have no say in it: such a host must always show a chain that is valid and names it.
    func decideByHost(_ trust: ServerTrust, host: String) -> HostVerdict? {
        switch hosts.match(host) {
        case .none: rules.refusesHostsWithoutRule ? HostVerdict(decision: .noRule(for: host)) : nil
        case .conflict(let hosts): HostVerdict(decision: .severalRules(for: hosts))
        case .rule(let rule): decide(trust, host: host, rule: rule)
        }
    }

    private func decide(_ trust: ServerTrust, host: String, rule: HostRule) -> HostVerdict {
        guard let name = PeerName(host) else { return HostVerdict(decision: .unnamed(host)) }
        let evaluation = trust.evaluate(.tlsServer(name))
        guard evaluation.isTrusted, let set = rule.pinSet else { return HostVerdict(decision: .standard(evaluation)) }
        let problem: String
        if set.isExpired(at: trust.date) {
            guard set.expiry?.choice == .failClosed else { return HostVerdict(decision: .accept) }
            problem = "the pins for \(rule.hosts) have expired, and are to refuse every server then"
        } else if set.matches(evaluation.verifiedChain) {
            return HostVerdict(decision: .accept)
        } else {
            problem = set.mismatch(with: evaluation.verifiedChain, for: rule.hosts)
        }
        let report = PinningReport(
            host: host,
            date: trust.date,
            rule: rule,
            isRefused: !set.isReportOnly,
            servedChain: trust.servedChain,
            verifiedChain: evaluation.verifiedChain,
            explanation: problem
        )
        let refusal = ServerTrustDecision.reject(rule: "pins for \(rule.hosts)", explanation: problem)
        return HostVerdict(decision: set.isReportOnly ? .accept : refusal, report: report)
    }

    // MARK: - Without a server

    /// Whether plain http to this host would go past its pins. Asks which host it is only if there is a rule for any.
    package func pins(_ host: @autoclosure () -> String) -> Bool {
        switch rules.hostRules.isEmpty ? .none : hosts.match(host()) {
        case .none: rules.mode != .none || rules.refusesHostsWithoutRule
        case let match: match.isStrict
        }
    }
}

extension PinSet {
    fileprivate func mismatch(with chain: [Certificate], for hosts: HostPattern) -> String {
        let expected = PinText.joined(all.map(\.description))
        return "no member of the verified chain has a pin for \(hosts). Expected: \(expected). The chain has: "
            + PinText.chain(chain)
    }
}

extension ServerTrustDecision {
    fileprivate static func noRule(for host: String) -> ServerTrustDecision {
        .reject(
            rule: "host without a rule",
            explanation:
                "the policy has no rule for \(host.debugDescription) and refuses such hosts; add one, with pins "
                + "or without"
        )
    }

    fileprivate static func severalRules(for hosts: HostPattern) -> ServerTrustDecision {
        .reject(
            rule: "several rules for \(hosts)",
            explanation:
                "the policy has more than one rule for \(hosts), and none goes before the other; put their pins "
                + "into one"
        )
    }
}
