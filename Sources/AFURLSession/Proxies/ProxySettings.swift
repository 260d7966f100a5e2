import AFTransport

/// The proxy settings of a configuration.
struct ProxySettings: Sendable {
    var configuration: ProxyConfiguration?
    var dictionary: ProxyDictionary?
    var usesEnvironment = true

    /// - Parameter environment: Read only if the configuration names no proxies.
    func rules(agentLine: [UInt8], environment: () -> [String: String]) -> ProxySelection {
        if let configuration { return ProxySelection(configuration, agentLine: agentLine) }
        if let dictionary { return ProxySelection(dictionary, agentLine: agentLine) }
        guard usesEnvironment else { return ProxySelection() }
        return ProxySelection(ProxyEnvironment(environment()), agentLine: agentLine)
    }
}
