/// What a configuration says about proxies.
struct ProxySettings: Sendable {
    var configuration: ProxyConfiguration?
    var dictionary: ProxyDictionary?
    var usesEnvironment = true

    /// - Parameter environment: Asked only if nothing else says anything.
    func rules(agentLine: [UInt8], environment: () -> [String: String]) -> ProxyRules {
        if let configuration { return ProxyRules(configuration, agentLine: agentLine) }
        if let dictionary { return ProxyRules(dictionary, agentLine: agentLine) }
        guard usesEnvironment else { return ProxyRules() }
        return ProxyRules(ProxyEnvironment(environment()), agentLine: agentLine)
    }
}
