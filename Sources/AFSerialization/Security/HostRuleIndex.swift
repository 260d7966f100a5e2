/// The rules of a policy by their hosts.
///
/// A look-up takes a step for the host and for each domain above it, however many rules there are.
struct HostRuleIndex: Sendable {
    private var matches: [HostPattern: HostRuleMatch] = [:]

    init(_ rules: [HostRule]) {
        for rule in rules {
            matches[rule.hosts] = matches[rule.hosts] == nil ? .rule(rule) : .conflict(rule.hosts)
        }
    }

    /// The most specific of the rules that match.
    func match(_ host: String) -> HostRuleMatch {
        guard !matches.isEmpty, let name = PeerName(host) else { return .none }
        if let match = match(name) { return match }
        // A network without a translator may have anything at that address, so it has no part in exceptions.
        guard let host = name.translated, let match = match(host), match.isStrict else { return .none }
        return match
    }

    private func match(_ host: PeerName) -> HostRuleMatch? {
        for pattern in HostPattern.matching(host) {
            if let match = matches[pattern] { return match }
        }
        return nil
    }
}
