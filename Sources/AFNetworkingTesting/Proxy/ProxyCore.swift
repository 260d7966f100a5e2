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
            return admission(of: request, field, rules, isOwed: isOwed)
        }
    }

    private func admission(
        of request: RecordedRequest,
        _ field: String?,
        _ rules: DigestRules,
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

    func close(_ number: Int, _ outcome: RecordedForwarding.Outcome) {
        lock.change { state in
            if state.forwardings[number].outcome == .open { state.forwardings[number].outcome = outcome }
        }
    }

    func note(_ count: Int, _ direction: ProxyBehaviour.Direction, of number: Int) {
        lock.change { state in
            switch direction {
            case .toClient: state.forwardings[number].bytesToClient += count
            case .toTarget: state.forwardings[number].bytesToTarget += count
            }
        }
    }
}

/// One request of a client to a `TestProxy` to connect it to a target.
public struct RecordedForwarding: Sendable, Hashable {
    /// How the client asked.
    @nonexhaustive
    public enum Means: Sendable, Hashable {
        /// With CONNECT.
        case tunnel
        /// With a request in absolute form.
        case request
        /// By SOCKS 5.
        case socks5
    }

    /// How it ended.
    @nonexhaustive
    public enum Outcome: Sendable, Hashable {
        /// It is not over.
        case open
        /// The proxy forwarded it, and it is over.
        case ended
        /// The proxy did not forward it; the text says why.
        case refused(String)
    }

    /// The number of the client's connection.
    public let connection: Int
    /// How the client asked.
    public let means: Means
    /// The host, as the client wrote it, without brackets.
    public let host: String
    /// The port.
    public let port: UInt16
    /// Whether the client sent a name, which the proxy looks up, and not an address.
    public let isName: Bool
    /// The user that the client authenticated as.
    public internal(set) var user: String?
    /// How many bytes the proxy passed on to the target.
    public internal(set) var bytesToTarget = 0
    /// How many bytes of the target the proxy passed on to the client.
    public internal(set) var bytesToClient = 0
    /// How it ended.
    public internal(set) var outcome = Outcome.open

    init(connection: Int, means: Means, target: ProxyTarget, user: String?) {
        self.connection = connection
        self.means = means
        self.user = user
        (host, port) = (target.host, target.port)
        isName = SocketEndpoint(literal: target.host, port: target.port) == nil
    }
}
