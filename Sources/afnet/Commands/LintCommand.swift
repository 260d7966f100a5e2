import AFNetworking
import Foundation

/// `afnet lint`: looks for mistakes in a policy file and in authorities, and shows the rule for a host.
@MainActor struct LintCommand {
    private let arguments: Arguments
    private let file: PolicyFile?
    private let authorities: TrustAnchors?

    init(_ arguments: Arguments) throws(TransferFailure) {
        self.arguments = arguments
        authorities = try arguments.security.authorities.map { _ throws(TransferFailure) in
            try arguments.security.anchors()
        }
        do throws(FileProblem) {
            file = try arguments.urls.first.map { path throws(FileProblem) in try PolicyFile(path: path) }
        } catch {
            throw TransferFailure(.usage, "lint: \(error.message)")
        }
        // lint must not complain that there is none: a file has no handler, and the program that loads it sets one.
        file?.policy.reportHandler = { _ in }
    }

    /// 0 if there are no problems, 1 if there are.
    func run() throws(TransferFailure) -> ExitCode {
        let findings = file?.policy.lint() ?? []
        let problems = findings.filter { $0.severity > .note }
        var lines: [String] = []
        if let file, !arguments.hosts.isEmpty {
            lines = arguments.hosts.map { cover($0, in: file) }
        } else {
            lines = findings.flatMap(Self.lines)
            if let file { lines.append(summary(of: file, problems: problems.count)) }
            lines += authorities.map(lint) ?? []
        }
        if !arguments.isSilent || !arguments.hosts.isEmpty {
            try Descriptor.show(lines.map { TerminalText.escaped($0) + "\n" }.joined())
        }
        return problems.isEmpty ? .done : .no
    }

    private func lint(_ authorities: TrustAnchors) -> [String] {
        let flaws = authorities.lint()
        let result = flaws.isEmpty ? "nothing to change" : "other clients may refuse it"
        return flaws.map { "note: \($0.message) (\($0.kind.rawValue))" }
            + ["\(arguments.security.authorities ?? ""): \(authorities), \(result)"]
    }

    private func summary(of file: PolicyFile, problems: Int) -> String {
        let rules = file.policy.hostRules.count
        let counted = "\(rules) host rule\(rules == 1 ? "" : "s")"
        let result = problems == 0 ? "nothing to change" : "\(problems) problem\(problems == 1 ? "" : "s")"
        return "\(file.path): \(counted), \(result)"
    }

    private static func lines(_ finding: SecurityPolicy.Finding) -> [String] {
        let place = finding.hosts.map { "rule for \($0)" } ?? "the policy"
        let advice = LintAdvice.texts[finding.kind].map { ["  change: \($0)"] } ?? []
        return ["\(finding.severity): \(place): \(finding.message) (\(finding.kind.rawValue))"] + advice
    }

    private func cover(_ host: String, in file: PolicyFile) -> String {
        let policy = file.policy
        guard let name = PeerName(host) else { return "\(host): not a host" }
        if let rule = policy.rule(for: host) {
            return "\(host): the rule for \(Self.text(rule))"
        }
        if let pattern = policy.hostRules.map(\.hosts).first(where: { $0.matches(name) }) {
            return "\(host): refused, there are two rules for \(pattern)"
        }
        if policy.refusesHostsWithoutRule { return "\(host): refused, there is no rule for it" }
        switch policy.sslPinningMode {
        case .none: return "\(host): no rule, so whatever the authorities vouch for"
        case .publicKey: return "\(host): no rule, so the keys of pinnedCertificates"
        case .certificate: return "\(host): no rule, so pinnedCertificates"
        }
    }

    private static func text(_ rule: HostRule) -> String {
        guard case .pins(let set) = rule.requirement else { return "\(rule.hosts): no pins" }
        var words = ["\(set.pins.count) in use", "\(set.backupPins.count) as backup"]
        if let expiry = set.expiry {
            let end = expiry.date.formatted(.iso8601)
            words.append("until \(end), then \(expiry.choice == .failOpen ? "not pinned" : "refused")")
        }
        if set.isReportOnly { words.append("only reported") }
        return "\(rule.hosts): \(words.joined(separator: ", "))"
    }
}
