/// What the rules of a policy say about one host.
enum HostRuleMatch: Equatable {
    case none
    case rule(HostRule)
    /// Rules for the very same hosts, which cannot both be right.
    case conflict(HostPattern)

    /// The most specific of the rules that match.
    init(_ rules: [HostRule], host: String) {
        guard !rules.isEmpty, let name = PeerName(host) else {
            self = .none
            return
        }
        let matching = rules.filter { $0.hosts.matches(name) }
        guard let best = matching.max(by: { $0.hosts.specificity < $1.hosts.specificity }) else {
            self = .none
            return
        }
        let isAlone = matching.count { $0.hosts.specificity == best.hosts.specificity } == 1
        self = isAlone ? .rule(best) : .conflict(best.hosts)
    }
}
