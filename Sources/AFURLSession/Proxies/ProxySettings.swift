import AFTransport

/// What a configuration says about proxies.
struct ProxySettings: Sendable {
    var configuration: ProxyConfiguration?
    var dictionary: ProxyDictionary?
    var usesEnvironment = true

    /// - Parameter environment: Asked only if nothing else says anything.
    func rules(agentLine: [UInt8], environment: () -> [String: String]) -> ProxySelection {
        if let configuration { return ProxySelection(configuration, agentLine: agentLine) }
        if let dictionary { return ProxySelection(dictionary, agentLine: agentLine) }
        guard usesEnvironment else { return ProxySelection() }
        return ProxySelection(ProxyEnvironment(environment()), agentLine: agentLine)
    }
}
