import AFTLS

/// The rules of a session, which may change while it runs.
package final class SessionSecurity {
    @exclusivity(unchecked) private var configuration: TLSConfiguration {
        didSet { isEvaluated = configuration.evaluator != nil }
    }
    /// Kept, since looking into the configuration copies the evaluator.
    @exclusivity(unchecked) private var isEvaluated: Bool
    @exclusivity(unchecked) private var current: SecurityContext?
    private let connectionsPerHost: Int
    private let owner: Int
    @exclusivity(unchecked) private var isReplaced = false
    @exclusivity(unchecked) private var isForgotten = false
    private var lastID = 0
    /// Counts the evaluators that cannot be told apart otherwise.
    private var assignments = 0

    package init(_ configuration: TLSConfiguration, connectionsPerHost: Int, owner: Int = 0) {
        self.configuration = configuration
        isEvaluated = configuration.evaluator != nil
        self.owner = owner
        self.connectionsPerHost = connectionsPerHost
    }

    /// Takes effect with the next look at the rules. An evaluator without a fingerprint counts as another one.
    package func replace(_ configuration: TLSConfiguration) {
        self.configuration = configuration
        assignments += 1
        isReplaced = true
    }

    /// A task has started under the rules, so connections and TLS sessions may exist.
    package var isInUse: Bool { current != nil }

    /// The next task that starts gets the same rules in a new context: without the connections, TLS sessions and proven
    /// chains of the old one.
    package func forget() {
        isReplaced = true
        isForgotten = true
    }

    package var hasEvaluator: Bool { isEvaluated }

    /// Whether the rules, as they are now, forbid plain HTTP to this host.
    package func forbidsPlainText(to host: String) -> Bool {
        configuration.evaluator?.snapshot().forbidsPlainText(to: host) ?? false
    }

    /// The rules for a task that starts now. If they have changed, it calls `retire` with the former ones and the new
    /// ones.
    package func context(_ retire: (SecurityContext, SecurityContext) -> Void) -> SecurityContext {
        let evaluator = configuration.evaluator?.snapshot()
        if let current, !isReplaced, decideAlike(evaluator, right: current.evaluator) { return current }
        // The evaluator has changed without a word. If it has no fingerprint, this count tells it from the
        // former one.
        if !isReplaced { assignments += 1 }
        isReplaced = false
        let fingerprint = configuration.fingerprint(evaluator, unnamed: assignments)
        if let current, !isForgotten, current.fingerprint == fingerprint { return current }
        isForgotten = false
        let former = current
        lastID += 1
        let context = SecurityContext(
            id: lastID,
            configuration: configuration,
            evaluator: evaluator,
            fingerprint: fingerprint,
            sessionsPerPeer: connectionsPerHost,
            owner: owner
        )
        current = context
        if let former { retire(former, context) }
        return context
    }

    /// Whether two snapshots of one evaluator are the same. Objects without fingerprints are compared by identity. Values
    /// without fingerprints cannot be compared: those of the evaluator's own type count as copies of it, which do not
    /// change.
    private func decideAlike(_ left: (any ServerEvaluator)?, right: (any ServerEvaluator)?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        guard type(of: left) == type(of: right), left.fingerprint == right.fingerprint else { return false }
        guard left.fingerprint == nil, let evaluator = configuration.evaluator else { return true }
        return isObject(left) ? left as AnyObject === right as AnyObject : type(of: evaluator) == type(of: left)
    }

    private func isObject(_ evaluator: any ServerEvaluator) -> Bool { type(of: evaluator) is AnyClass }
}
