import Foundation

// Who decides about servers: the manager's policy, inside the handshake. If a closure is there to answer challenges
// it may want to trust a server that the policy would refuse; then the handshake waits for it, and the policy is asked
// where the closure leaves it to the manager. Pins are not up for discussion: a policy that pins decides first,
// whatever closures there are. So does one of a subclass, which may pin in a way of its own.

extension URLSessionManager {
    /// The configuration of a new session.
    func configuration(for state: inout State) -> URLSessionConfiguration {
        let configuration = sessionConfiguration.copied()
        state.trust = state.wantedTrust(besides: configuration.tls.evaluator)
        configuration.tls.evaluator = state.trust.evaluator
        return configuration
    }

    /// Brings the session to what policy and closures want. Called before each task: the policy may have been changed.
    func applyTrust() {
        // What was there may run code when it goes: not under the lock.
        _ = state.withLock { state -> (ServerJudge, (any ServerEvaluator)?)? in
            let trust = state.wantedTrust(besides: sessionConfiguration.tls.evaluator)
            guard let session = state.session, trust != state.trust else { return nil }
            let former = (state.trust, session.tls.evaluator)
            state.trust = trust
            // Under the lock, or of two threads the one that decided first could be the one that writes last.
            session.tls.evaluator = trust.evaluator
            return former
        }
    }

    // MARK: - Challenges

    /// A challenge that concerns the session.
    func answer(
        _ challenge: URLAuthenticationChallenge,
        in session: URLSession,
        _ done: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let hook = hooks.sessionDidReceiveChallenge else {
            return DefaultAnswers.given.urlSession(session, didReceive: challenge, completionHandler: done)
        }
        var credential: URLCredential?
        let disposition = withUnsafeMutablePointer(to: &credential) { hook(session, challenge, $0) }
        guard disposition == .performDefaultHandling else { return done(disposition, credential) }
        judge(challenge, done) { _, _ in }
    }

    /// A challenge of a task.
    func answer(
        _ challenge: URLAuthenticationChallenge,
        of task: URLSessionTask,
        in session: URLSession,
        _ done: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let (handler, judgesHere) = state.withLock { ($0.hooks.authenticationChallenge, $0.trust == .challenges) }
        guard handler != nil || judgesHere else {
            return DefaultAnswers.given.urlSession(session, task: task, didReceive: challenge, completionHandler: done)
        }
        let record = record(of: task, in: session)
        let refused: @Sendable (ServerTrustDecision, ServerTrust) -> Void = { decision, trust in
            let space = challenge.protectionSpace
            let error = UntrustedServer.error(decision, trust, space, task.currentRequest?.url)
            record?.state.withLock { $0.error = error }
        }
        switch handler?(session, task, challenge, done) ?? .performDefaultHandling {
        case .later: break
        case .credential(let credential): done(.useCredential, credential)
        case .fail(let error):
            record?.state.withLock { $0.error = error }
            done(.cancelAuthenticationChallenge, nil)
        case .cancel: done(.cancelAuthenticationChallenge, nil)
        case .rejectProtectionSpace: done(.rejectProtectionSpace, nil)
        case .performDefaultHandling: judge(challenge, done, refused)
        }
    }

    /// The default handling: servers are the policy's business, everything else the session's.
    private func judge(
        _ challenge: URLAuthenticationChallenge,
        _ done: @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void,
        _ refused: (ServerTrustDecision, ServerTrust) -> Void
    ) {
        let space = challenge.protectionSpace
        // Where the policy has decided already, asking it again would be asking twice.
        guard let trust = space.serverTrust, state.withLock({ $0.trust == .challenges }) else {
            return done(.performDefaultHandling, nil)
        }
        let decision = securityPolicy.decide(trust, domain: space.host)
        if decision == .accept {
            done(.useCredential, URLCredential(trust: trust))
        } else {
            refused(decision, trust)
            done(.cancelAuthenticationChallenge, nil)
        }
    }
}

/// Who decides about servers.
enum ServerJudge: Sendable, Equatable {
    /// Who the configuration names.
    case other(any ServerEvaluator)
    case policy(SecurityPolicy)
    /// The manager's closures, and then the policy, in challenges.
    case challenges

    var evaluator: (any ServerEvaluator)? {
        switch self {
        case .other(let evaluator): evaluator
        case .policy(let policy): policy
        case .challenges: nil
        }
    }

    static func == (one: ServerJudge, other: ServerJudge) -> Bool {
        switch (one, other) {
        case (.other, .other), (.challenges, .challenges): true
        case (.policy(let one), .policy(let other)): one === other
        default: false
        }
    }
}

extension URLSessionManager.State {
    fileprivate func wantedTrust(besides other: (any ServerEvaluator)?) -> ServerJudge {
        if let other, !hasOwnPolicy { return .other(other) }
        guard hooks.mayDecideAboutServers else { return .policy(securityPolicy) }
        let isStrict =
            securityPolicy.isPinning || securityPolicy.refusesHostsWithoutRule || securityPolicy.mayHaveOverrides
        return isStrict ? .policy(securityPolicy) : .challenges
    }
}

/// A delegate without methods of its own: it answers what a session does by itself, and leaves challenges to whoever
/// would be asked next. Its standard implementations say that *it* has no methods, not that the manager has none.
final class DefaultAnswers: URLSessionDataDelegate {
    static let given = DefaultAnswers()
}
