import AFNetworking

/// Rules that let somebody know which server they are asked about.
struct WatchedRules: ServerEvaluator {
    let rules: ServerRules
    let seen: @Sendable (ServerTrust) -> Void

    var fingerprint: [UInt8]? { rules.fingerprint }

    func evaluate(_ trust: ServerTrust) -> ServerTrustDecision {
        seen(trust)
        return rules.evaluate(trust)
    }

    func forbidsPlainText(to host: String) -> Bool { rules.forbidsPlainText(to: host) }
}
