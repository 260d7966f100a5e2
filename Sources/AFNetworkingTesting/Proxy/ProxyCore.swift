/// The state that the connections of a proxy share.
final class ProxyCore: Sendable {
    struct State: Sendable {
        var rules: ProxyRules
        var queue: ArraySlice<ProxyBehaviour> = []
        var usual = ProxyBehaviour.forwarding
        var challengesLeft = 0
        var forwardings: [RecordedForwarding] = []
    }

    let lock: Lock<State>
    let nonces = NonceStore()

    init(rules: ProxyRules) {
        lock = Lock(State(rules: rules))
    }

    var rules: ProxyRules { lock.read { $0.rules } }

    func takeBehaviour() -> ProxyBehaviour {
        lock.change { $0.queue.popFirst() ?? $0.usual }
    }

    // MARK: - Authentication

    enum Admission: Equatable {
        case welcome(user: String?)
        case challenged(String, reason: String)
    }

    func admission(of request: RecordedRequest) -> Admission {
        let field = request.headers["Proxy-Authorization"]
        let isOwed = lock.change { state in
            guard state.challengesLeft > 0 else { return false }
            state.challengesLeft -= 1
            return true
        }
        switch rules.authentication {
        case .none:
            return isOwed ? .challenged("Basic realm=\"proxy\"", reason: "not this time") : .welcome(user: nil)
        case .password(let user, let password, let realm):
            let challenge = "Basic realm=\(DigestRules.quoted(realm))"
            if isOwed { return .challenged(challenge, reason: "not this time") }
            guard BasicCheck.isRight(field, user: user, password: password) else {
                return .challenged(challenge, reason: "user or password is wrong or missing")
            }
            return .welcome(user: user)
        case .digest(var rules):
            rules.qualities = rules.qualities.filter { $0 == .request }
            return admission(of: request, field: field, under: rules, isOwed: isOwed)
        }
    }

    private func admission(
        of request: RecordedRequest,
        field: String?,
        under rules: DigestRules,
        isOwed: Bool
    ) -> Admission {
        let (method, target) = (request.method, request.target)
        let check = DigestCheck(rules: rules, nonces: nonces, method: method, target: target, body: [])
        switch check.verdict(on: field, answer: []) {
        case .accepted where !isOwed: return .welcome(user: rules.user)
        case .accepted: return .challenged(rules.challenge(nonce: nonces.make(), isStale: true), reason: "once more")
        case .refused(let reason, let isStale):
            return .challenged(rules.challenge(nonce: nonces.make(), isStale: isStale), reason: reason)
        }
    }

    // MARK: - Targets

    enum Destination: Sendable {
        case addresses([SocketEndpoint])
        case forbidden
        case unknown
    }

    func destination(of target: ProxyTarget) -> Destination {
        let rules = rules
        guard rules.allows(target.host) else { return .forbidden }
        if let address = rules.address(of: target) {
            guard let peer = try? SocketEndpoint(address) else { return .unknown }
            return .addresses([peer])
        }
        if let literal = SocketEndpoint(literal: target.host, port: target.port) {
            return literal.isLocal || rules.reachesOtherMachines ? .addresses([literal]) : .forbidden
        }
        if target.host.equalsIgnoringCase("localhost") {
            let both = ["127.0.0.1", "::1"].compactMap { SocketEndpoint(literal: $0, port: target.port) }
            return .addresses(both)
        }
        guard rules.reachesOtherMachines else { return .unknown }
        let found = SocketEndpoint.resolve(target.host, port: target.port)
        return found.isEmpty ? .unknown : .addresses(found)
    }

    // MARK: - Records

    /// - Returns: The number of the record.
    func open(_ forwarding: RecordedForwarding) -> Int {
        lock.change { state in
            state.forwardings.append(forwarding)
            return state.forwardings.count - 1
        }
    }

    func close(_ number: Int, as outcome: RecordedForwarding.Outcome) {
        lock.change { state in
            if state.forwardings[number].outcome == .open { state.forwardings[number].outcome = outcome }
        }
    }

    func note(_ count: Int, direction: ProxyBehaviour.Direction, of number: Int) {
        lock.change { state in
            switch direction {
            case .toClient: state.forwardings[number].bytesToClient += count
            case .toTarget: state.forwardings[number].bytesToTarget += count
            }
        }
    }
}
