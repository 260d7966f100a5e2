import AFBase
public import Foundation

extension SecurityPolicy {
    /// Looks for what is likely to be a mistake, the gravest first. Worth a test of your own:
    ///
    /// ```swift
    /// #expect(policy.lint(baseURL: api).filter { $0.severity > .note }.isEmpty)
    /// ```
    ///
    /// - Parameters:
    ///   - baseURL: Where the requests will go.
    ///   - date: Against which ends are compared.
    public func lint(baseURL: URL? = nil, at date: Date = Date()) -> [Finding] {
        let lint = PolicyLint(policy: frozen, hasReportHandler: reportHandler != nil, date: date)
        let findings = lint.switches + lint.pinnedCertificates + lint.hostRules + lint.pairs + lint.plainText(baseURL)
        let ranked = findings.enumerated().sorted {
            ($1.element.severity, $0.offset) < ($0.element.severity, $1.offset)
        }
        return ranked.map(\.element)
    }
}

/// Reads the rules of a policy with suspicion.
private struct PolicyLint {
    typealias Finding = SecurityPolicy.Finding

    let policy: FrozenSecurityPolicy
    let hasReportHandler: Bool
    let date: Date

    private var rules: SecurityRules { policy.rules }

    private var soon: Date { date.addingTimeInterval(30 * 86_400) }

    // MARK: - The policy itself

    var switches: [Finding] {
        var found: [Finding] = []
        if rules.allowsInvalidCertificates {
            switch rules.mode {
            case .none:
                found.add(
                    .error,
                    kind: .noAuthentication,
                    message: rules.validatesName
                        ? "allowInvalidCertificates without pins refuses every host, as long as names are validated"
                        : "allowInvalidCertificates without pins accepts every server: an attacker on the network can read and "
                            + "change everything"
                )
            case .publicKey:
                found.add(
                    .error,
                    kind: .keyAlone,
                    message:
                        "publicKey with allowInvalidCertificates checks neither chain nor dates nor name: the holder of one of "
                        + "the keys can pose as every host; set tls.anchors, or use the mode certificate"
                )
            case .certificate: break
            }
        }
        if !rules.validatesName {
            found.add(
                .error,
                kind: .noNameCheck,
                message: "a certificate for any host is taken for every host: leave "
                    + "validatesDomainName true"
            )
        }
        if rules.refusesHostsWithoutRule, rules.hostRules.isEmpty {
            found.add(
                .error,
                kind: .noRules,
                message: "refusesHostsWithoutRule is true and there is no rule: every host is refused"
            )
        }
        return found
    }

    var pinnedCertificates: [Finding] {
        let pinned = rules.pinned
        guard rules.mode != .none else {
            guard !pinned.isEmpty else { return [] }
            return [
                Finding(
                    severity: .warning,
                    kind: .unusedPins,
                    hosts: nil,
                    message: "there are pinned certificates, but the mode none looks at none"
                )
            ]
        }
        var found: [Finding] = []
        if pinned.isEmpty {
            found.add(
                .error,
                kind: .emptyPinSet,
                message: "the mode pins, but there are no pinned certificates: every host is refused"
            )
        } else if let problem = pinned.problem {
            found.add(.error, kind: .unreadablePin, message: "every host is refused: \(problem)")
        } else if pinned.keys.count == 1 {
            found.add(
                .warning,
                kind: .noBackupPin,
                message: "only one key is pinned: if it is lost or replaced, every user is cut off"
            )
        }
        // The mode certificate makes authorities of them.
        let flaws = rules.mode == .certificate ? pinned.anchors.lint() : []
        return found + expiring(pinned.certificates, hosts: nil)
            + flaws.map { Finding(severity: .note, kind: .flawedAuthority, hosts: nil, message: $0.message) }
    }

    private func expiring(_ certificates: [Certificate], hosts: HostPattern?) -> [Finding] {
        certificates.compactMap { certificate in
            let end = Date(timeIntervalSince1970: TimeInterval(certificate.notAfterSeconds))
            guard end < soon else { return nil }
            return Finding(
                severity: .warning,
                kind: .expiringCertificate,
                hosts: hosts,
                message:
                    "the pinned certificate \"\(certificate.summary)\" \(end < date ? "has expired" : "expires within 30 days")"
            )
        }
    }

    // MARK: - Rules for hosts

    var hostRules: [Finding] {
        rules.hostRules.flatMap { rule in
            broadness(of: rule.hosts) + (rule.pinSet.map { review($0, for: rule.hosts) } ?? [])
        }
    }

    private func broadness(of hosts: HostPattern) -> [Finding] {
        guard let domain = hosts.domain, !domain.contains(".") else { return [] }
        return [
            Finding(
                severity: .warning,
                kind: .broadPattern,
                hosts: hosts,
                message: "a rule for everything below \"\(domain)\" is too broad"
            )
        ]
    }

    private func review(_ set: PinSet, for hosts: HostPattern) -> [Finding] {
        var found: [Finding] = []
        if set.all.isEmpty {
            found.add(
                .error,
                kind: .emptyPinSet,
                hosts: hosts,
                message: "the set has no pins, so nothing can match them"
            )
        } else if set.backupPins.isEmpty {
            found.add(
                .warning,
                kind: .noBackupPin,
                hosts: hosts,
                message: "no backup pin: if the key is lost, every user is cut off"
            )
        } else if !Set(set.backupPins).isDisjoint(with: set.pins) {
            found.add(.warning, kind: .sharedBackupPin, hosts: hosts, message: "a key that is in use is no backup")
        }
        if let expiry = set.expiry, expiry.date < soon {
            let what = expiry.choice == .failOpen ? "hosts are not pinned" : "hosts are refused"
            if set.isExpired(at: date) {
                found.add(.error, kind: .expiredPinSet, hosts: hosts, message: "the set has ended: its \(what)")
            } else {
                found.add(
                    .warning,
                    kind: .expiringPinSet,
                    hosts: hosts,
                    message: "the set ends within 30 days; its \(what) then"
                )
            }
        }
        if set.isReportOnly, !hasReportHandler {
            found.add(
                .warning,
                kind: .unheardReports,
                hosts: hosts,
                message: "the rule only reports, and there is no reportHandler"
            )
        }
        let certificates = set.all.compactMap { if case .certificate(let pinned) = $0 { pinned } else { nil } }
        return found + expiring(certificates, hosts: hosts)
    }

    var pairs: [Finding] {
        rules.hostRules.indices.flatMap { second in
            rules.hostRules[..<second].compactMap { relation($0.hosts, second: rules.hostRules[second].hosts) }
        }
    }

    private func relation(_ first: HostPattern, second: HostPattern) -> Finding? {
        if first == second {
            return Finding(
                severity: .error,
                kind: .duplicateRule,
                hosts: first,
                message: "there are two rules for these hosts: they are refused"
            )
        }
        let (narrow, broad) = first.specificity > second.specificity ? (first, second) : (second, first)
        guard narrow.examples.contains(where: { broad.matches($0) }) else { return nil }
        return Finding(
            severity: .note,
            kind: .overlappingRules,
            hosts: narrow,
            message: "this rule replaces the one for \(broad) for these hosts"
        )
    }

    // MARK: - Where the requests go

    func plainText(_ url: URL?) -> [Finding] {
        guard let url, url.scheme.map(ASCII.lowered) == "http", let host = url.host(percentEncoded: true),
            policy.pins(host)
        else { return [] }
        return [
            Finding(
                severity: .error,
                kind: .plainText,
                hosts: nil,
                message: "\(host) is pinned, but the base URL is http, where no pin is looked at: requests "
                    + "to it are refused; use https"
            )
        ]
    }
}

extension HostPattern {
    /// What follows the star; nil without one.
    fileprivate var domain: Substring? {
        let text = description
        guard text.hasPrefix("*") else { return nil }
        return text.drop { $0 == "*" }.dropFirst()
    }

    /// Hosts that it is for, one of each kind.
    fileprivate var examples: [PeerName] {
        guard let domain else { return PeerName(description).map { [$0] } ?? [] }
        let labels = description.hasPrefix("**") ? ["a", "a.a"] : ["a"]
        return labels.compactMap { PeerName("\($0).\(domain)") }
    }
}

extension [SecurityPolicy.Finding] {
    fileprivate mutating func add(
        _ severity: Element.Severity,
        kind: Element.Kind,
        hosts: HostPattern? = nil,
        message: String
    ) {
        append(Element(severity: severity, kind: kind, hosts: hosts, message: message))
    }
}
