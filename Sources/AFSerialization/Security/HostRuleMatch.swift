/// What the rules of a policy say about one host.
enum HostRuleMatch: Equatable {
    case none
    case rule(HostRule)
    /// Rules for the very same hosts, which cannot both be right.
    case conflict(HostPattern)

    /// Whether it refuses servers that the authorities alone would not.
    var isStrict: Bool {
        switch self {
        case .none: false
        case .rule(let rule): rule.isStrict
        case .conflict: true
        }
    }
}
