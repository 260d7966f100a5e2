/// A policy of a class of the program's, with the settings of one time.
///
/// What its method decides by is not known. So there is no fingerprint: a connection that it accepted is for this object
/// alone, and no TLS session that it accepted is resumed.
final class OverriddenSecurityPolicy: BlockingServerEvaluator {
    private struct Call: Sendable {
        let policy: ObjectIdentifier
        let settings: FrozenSecurityPolicy
    }

    @TaskLocal private static var call: Call?

    private let policy: SecurityPolicy
    private let settings: FrozenSecurityPolicy

    init(policy: SecurityPolicy, settings: FrozenSecurityPolicy) {
        self.policy = policy
        self.settings = settings
    }

    /// The settings by which a policy decides within a call from here. Outside, those it has.
    static func settings(of policy: SecurityPolicy) -> FrozenSecurityPolicy? {
        guard let call, call.policy == ObjectIdentifier(policy) else { return nil }
        return call.settings
    }

    func evaluate(_ trust: ServerTrust) -> ServerTrustDecision {
        let call = Call(policy: ObjectIdentifier(policy), settings: settings)
        let isTrusted = Self.$call.withValue(call) { policy.evaluateServerTrust(trust, forDomain: trust.host) }
        return isTrusted ? .accept : Self.refusal(by: policy)
    }

    static func refusal(by policy: SecurityPolicy) -> ServerTrustDecision {
        .reject(
            rule: "evaluateServerTrust(_:forDomain:)",
            explanation: "the method of \(type(of: policy)) does not trust the server"
        )
    }

    func forbidsPlainText(to host: String) -> Bool { settings.forbidsPlainText(to: host) }
}
