import AFBase
import Foundation

// The manager's policy decides about servers, inside the handshake. A closure that answers challenges may want to trust
// a server that the policy refuses: then the handshake waits for the closure, and the policy decides only if the
// closure asks for default handling. A policy that pins decides before any closure. So does a policy of a subclass,
// which may pin in its own way.

/// A manager leaves challenges by its policy and its closures, and tells the session each change of them.
extension URLSessionManager: ChallengeForwarding {}

extension URLSessionManager {
    /// The configuration of a new session.
    func configuration(for state: inout State) -> URLSessionConfiguration {
        let configuration = sessionConfiguration.copied()
        state.trust = state.wantedTrust(besides: configuration.tls.evaluator)
        configuration.tls.evaluator = state.trust.evaluator
        return configuration
    }

    /// A digest of what its tasks' servers are judged by. What one load has brought counts for another only if it is the
    /// same for both. Nil if nothing differs from a new manager.
    package var judgement: [UInt8]? {
        // First the session: what decides about servers is not known before it is made.
        let tls = session.tls
        let (policy, isByChallenges, changes) = state.withLock {
            ($0.securityPolicy, $0.trust.isByChallenges, $0.hooks.challengeChanges)
        }
        let evaluator = tls.evaluator?.snapshot()
        var text = TrustFingerprint("AFNetworking.URLSessionManager")
        text.add(tls.fingerprint(evaluator, unnamed: 0))
        // What a closure, a subclass or an evaluator without a fingerprint decides by is its own.
        if isByChallenges || evaluator.map({ $0.fingerprint == nil }) ?? false {
            text.add(policy.frozen.fingerprint ?? [])
            text.add(
                "\(changes) \(UInt(bitPattern: ObjectIdentifier(self))) \(UInt(bitPattern: ObjectIdentifier(policy)))"
                    .utf8
            )
        }
        return text.bytes == URLSessionManager.usualJudgement ? nil : text.bytes
    }

    /// How often closures that answer challenges were set: 0 if there was never one.
    package var challengeChanges: Int { state.withLock { $0.hooks.challengeChanges } }

    private static let usualJudgement: [UInt8] = {
        var text = TrustFingerprint("AFNetworking.URLSessionManager")
        text.add(TLSConfiguration().fingerprint(SecurityPolicy().snapshot(), unnamed: 0))
        return text.bytes
    }()

    /// Applies each change of the policy at once.
    func watch(_ policy: SecurityPolicy) {
        policy.add(trust)
    }

    // MARK: - Challenges

    /// Answers a challenge that concerns the session.
    func answer(
        _ challenge: URLAuthenticationChallenge,
        in session: URLSession,
        done: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let hook = hook(\.sessionDidReceiveChallenge) else {
            return DefaultDelegate.shared.urlSession(session, didReceive: challenge, completionHandler: done)
        }
        var credential: URLCredential?
        let disposition = withUnsafeMutablePointer(to: &credential) { hook(session, challenge, $0) }
        guard disposition == .performDefaultHandling else { return done(disposition, credential) }
        handleByDefault(challenge, done: done) { _, trust in UntrustedServer.refuse(trust, done: done) }
    }

    /// Answers a challenge of a task.
    func answer(
        _ challenge: URLAuthenticationChallenge,
        of task: URLSessionTask,
        in session: URLSession,
        done: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let (handler, decidesHere) = state.withLock { ($0.hooks.authenticationChallenge, $0.trust.isByChallenges) }
        guard handler != nil || decidesHere else {
            return DefaultDelegate.shared.urlSession(
                session,
                task: task,
                didReceive: challenge,
                completionHandler: done
            )
        }
        let record = record(of: task)
        let refused: @Sendable (ServerTrustDecision, ServerTrust) -> Void = { decision, trust in
            // A WebSocket or a stream of events has no record: its error is the session's.
            guard let record else { return UntrustedServer.refuse(trust, done: done) }
            let space = challenge.protectionSpace
            let error = UntrustedServer.error(decision, trust: trust, space: space, url: task.currentRequest?.url)
            record.state.withLock { $0.error = error }
            done(.cancelAuthenticationChallenge, nil)
        }
        switch handler?(session, task, challenge, done) ?? .performDefaultHandling {
        case .later: break
        case .credential(let credential): done(.useCredential, credential)
        case .fail(let error):
            record?.state.withLock { $0.error = error }
            done(.cancelAuthenticationChallenge, nil)
        case .cancel: done(.cancelAuthenticationChallenge, nil)
        case .rejectProtectionSpace: done(.rejectProtectionSpace, nil)
        case .performDefaultHandling: handleByDefault(challenge, done: done, refused: refused)
        }
    }

    /// The default handling: the policy decides about servers, the session about everything else.
    private func handleByDefault(
        _ challenge: URLAuthenticationChallenge,
        done: @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void,
        refused: (ServerTrustDecision, ServerTrust) -> Void
    ) {
        let space = challenge.protectionSpace
        // In all other cases the policy has already decided, inside the handshake.
        guard let trust = space.serverTrust, state.withLock({ $0.trust.isByChallenges }) else {
            return done(.performDefaultHandling, nil)
        }
        let decision = securityPolicy.decide(trust, domain: space.host)
        if decision == .accept {
            done(.useCredential, URLCredential(trust: trust))
        } else {
            refused(decision, trust)
        }
    }
}

/// Applies a manager's policy and closures to its session, whenever one of them is set or changed.
///
/// It has the state of the manager and not the manager: with a weak reference to a manager each retain of it costs more.
final class ManagerTrust: ServerEvaluatorObserver {
    private let state: Lock<URLSessionManager.State>
    /// What the configuration has decide about servers.
    private let configured: (any ServerEvaluator)?

    init(state: Lock<URLSessionManager.State>, besides configured: (any ServerEvaluator)?) {
        self.state = state
        self.configured = configured
    }

    func evaluatorDidChange() { apply() }

    func apply() {
        // Release the old value after the lock: its deinit may run the program's code.
        _ = state.withLock { state -> (TrustSource, (any ServerEvaluator)?)? in
            let trust = state.wantedTrust(besides: configured)
            guard let session = state.session, trust != state.trust else { return nil }
            let former = (state.trust, session.tls.evaluator)
            // Written under the lock: otherwise a thread that decided earlier could write later.
            session.tls.evaluator = trust.evaluator
            // Also where it was a policy until now: the session may not have begun a task under that.
            if trust.isByChallenges { session.forgetAnswers() }
            state.trust = trust
            return former
        }
    }
}

/// What decides about servers.
enum TrustSource: Sendable, Equatable {
    /// The evaluator of the configuration.
    case other(any ServerEvaluator)
    case policy(SecurityPolicy)
    /// The manager's closures, and then the policy, when the session sends a challenge.
    case challenges(ChallengeRules)

    var isByChallenges: Bool { if case .challenges = self { true } else { false } }

    var evaluator: (any ServerEvaluator)? {
        switch self {
        case .other(let evaluator): evaluator
        case .policy(let policy): policy
        case .challenges: nil
        }
    }

    static func == (one: TrustSource, other: TrustSource) -> Bool {
        switch (one, other) {
        case (.other, .other): true
        case (.challenges(let one), .challenges(let other)): one == other
        case (.policy(let one), .policy(let other)): one === other
        default: false
        }
    }
}

/// What the answers to challenges follow from. When it changes, what was accepted before may not be any more.
struct ChallengeRules: Sendable, Equatable {
    var policy: [UInt8]?
    var closureChanges = 0
}

extension UntrustedServer {
    /// Refuses a server so that the session's own error says why. If the standard evaluation refuses the server too, the
    /// error names its reason.
    fileprivate static func refuse(
        _ trust: ServerTrust,
        done: (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        done(trust.evaluation.isTrusted ? .rejectProtectionSpace : .performDefaultHandling, nil)
    }
}

extension URLSessionManager.State {
    fileprivate func wantedTrust(besides other: (any ServerEvaluator)?) -> TrustSource {
        if let other, !hasOwnPolicy { return .other(other) }
        guard hooks.mayDecideAboutServers else { return .policy(securityPolicy) }
        let isStrict =
            securityPolicy.isPinning || securityPolicy.refusesHostsWithoutRule || securityPolicy.mayHaveOverrides
        if isStrict { return .policy(securityPolicy) }
        return .challenges(ChallengeRules(policy: securityPolicy.fingerprint, closureChanges: hooks.challengeChanges))
    }
}

/// A delegate without methods of its own. Its default implementations answer as the session does without a delegate,
/// and pass challenges on to the next method. Called on this object, they tell the session that *it* lacks the method,
/// and not that the manager does.
final class DefaultDelegate: URLSessionDataDelegate {
    static let shared = DefaultDelegate()
}
