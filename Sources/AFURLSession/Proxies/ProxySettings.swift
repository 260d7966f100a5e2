/// What a configuration says about proxies.
struct ProxySettings: Sendable {
    var configuration: ProxyConfiguration?
    var dictionary: ProxyDictionary?
    var usesEnvironment = true

    /// - Parameter environment: Asked only if nothing else says anything.
    func rules(userAgent: String, environment: () -> [String: String]) -> ProxyRules {
        if let configuration { return ProxyRules(configuration, userAgent: userAgent) }
        if let dictionary { return ProxyRules(dictionary, userAgent: userAgent) }
        guard usesEnvironment else { return ProxyRules() }
        return ProxyRules(ProxyEnvironment(environment()), userAgent: userAgent)
    }
}
