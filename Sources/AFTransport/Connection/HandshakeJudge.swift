package import AFTLS
import AFWire

/// Asks the delegate on behalf of a handshake. Answers later, or never.
package protocol HandshakeDelegate: AnyObject {
    /// False if there is no delegate that wants to be asked.
    var mayBeAsked: Bool { get }
    func ask(_ question: HandshakeQuestion, answer: @escaping (HandshakeAnswer) -> Void)
}

package enum HandshakeQuestion {
    case serverTrust(ServerTrust)
    /// The names of the authorities that the server accepts, as DER.
    case identity([[UInt8]])
}

/// Judges one server, once, and remembers what it found as long as the connection lives.
package final class HandshakeJudge: TLSEngineClient {
    private enum Deliberation {
        case notBegun
        case asking
        case accepted
        case refused(TrustRefusal)
    }

    private enum Identification {
        case notAsked
        case asking
        case decided(ClientIdentity?)
    }

    private let key: ConnectionKey
    private let security: SecurityContext
    private let platform: Platform
    private var deliberation = Deliberation.notBegun
    private var identification = Identification.notAsked
    /// The handshake that it serves, until that is over.
    private var handshake: Handshake?
    /// A delegate was asked. It may decide otherwise the next time, so no session of this connection is resumed.
    private(set) var delegateWasAsked = false

    /// A delegate has trusted the server, or shown it a certificate of the client.
    private(set) var followsDelegate = false

    /// What the server showed, now or when the session was made that is being resumed.
    package private(set) var trust: ServerTrust?
    /// The handshake offered a session of an earlier one.
    private(set) var hasOfferedSession = false
    /// The delegate cancelled the question for an identity.
    package private(set) var isCancelled = false

    package init(key: ConnectionKey, security: SecurityContext, platform: Platform) {
        self.key = key
        self.security = security
        self.platform = platform
    }

    package var refusal: TrustRefusal? {
        if case .refused(let refusal) = deliberation { return refusal }
        return nil
    }

    package func serve(_ handshake: Handshake?) {
        self.handshake = handshake
    }

    // MARK: - Resuming

    /// A session with this server that may be resumed. The evaluator judges the server again, and the dates count
    /// again; the proof of its certificates is not repeated.
    func sessionToResume() -> TLSSession? {
        guard let entry = security.sessions.take(for: key) else { return nil }
        let trust = entry.trust.dated(platform.wallClock().seconds)
        guard trust.isWithinValidity, security.evaluator.map({ $0.evaluate(trust) == .accept }) ?? true else {
            security.sessions.forget(key)
            return nil
        }
        self.trust = trust
        hasOfferedSession = true
        return entry.session
    }

    package func engine(_ engine: TLSEngine, received session: TLSSession) {
        guard security.mayResume, !delegateWasAsked, let trust, trust.evaluation.isTrusted else { return }
        if case .accepted = deliberation { return security.sessions.keep(session, trust: trust, for: key) }
        // The server sends new sessions on a resumed connection. The verdict on the first one holds for them.
        if case .notBegun = deliberation, engine.isResumed { security.sessions.keep(session, trust: trust, for: key) }
    }

    // MARK: - The server's certificates

    package func engine(_ engine: TLSEngine, judges served: [Certificate]) -> TLSVerdict {
        if case .notBegun = deliberation {
            // It stays unbegun: OpenSSL asks again once a request claims the connection, and the delegate of that one
            // decides.
            guard handshake?.isAwaited() ?? true else { return .later }
            begin(served)
        }
        switch deliberation {
        case .notBegun, .asking: return .later
        case .accepted: return .accept
        case .refused(let refusal): return .refuse(refusal.verifyResult)
        }
    }

    private func begin(_ served: [Certificate]) {
        let trust = seen(served)
        self.trust = trust
        decide(trust)
        if case .accepted = deliberation { security.servers.keep(trust, by: key.route, for: key.judge) }
    }

    private func seen(_ served: [Certificate]) -> ServerTrust {
        let host = key.endpoint.host.text
        let now = platform.wallClock().seconds
        return security.servers.recall(host, by: key.route, for: key.judge, showing: served, at: now)
            ?? ServerTrust(
                servedChain: served,
                host: host,
                anchors: security.configuration.anchors,
                at: now,
                securityLevel: security.configuration.securityLevel
            )
    }

    private func decide(_ trust: ServerTrust) {
        guard let evaluator = security.evaluator as? any BlockingServerEvaluator else {
            return obey(security.evaluator?.evaluate(trust) ?? .accept, trust: trust)
        }
        // Without a handshake no answer would ever be waited for.
        guard let handshake else { return deliberation = .refused(.unanswered) }
        deliberation = .asking
        handshake.ask(evaluator, about: trust) { [weak self] answer in self?.evaluatorAnswered(answer, trust: trust) }
    }

    private func evaluatorAnswered(_ answer: HandshakeAnswer, trust: ServerTrust) {
        guard case .asking = deliberation else { return }
        if case .evaluated(let decision) = answer { return obey(decision, trust: trust) }
        let explanation = "the evaluator took longer than the decisionTimeout of the TLS configuration"
        deliberation = .refused(.rule("time for a decision", explanation))
    }

    private func obey(_ decision: ServerTrustDecision, trust: ServerTrust) {
        guard let refusal = TrustRefusal(decision) else { return askDelegate(trust) }
        deliberation = .refused(refusal)
    }

    private func askDelegate(_ trust: ServerTrust) {
        // Only if a delegate may have a method: else `ask` would answer at once, while OpenSSL is in its callback.
        guard let handshake, handshake.mayAsk else {
            deliberation = standard(trust)
            return
        }
        deliberation = .asking
        handshake.ask(.serverTrust(trust)) { [weak self] answer in self?.delegateAnswered(answer, trust: trust) }
    }

    /// The decision if no delegate makes it.
    private func standard(_ trust: ServerTrust) -> Deliberation {
        guard security.evaluator == nil, let failure = trust.evaluation.failure else { return .accepted }
        return .refused(.evaluation(failure))
    }

    private func delegateAnswered(_ answer: HandshakeAnswer, trust: ServerTrust) {
        guard case .asking = deliberation else { return }
        note(answer)
        switch answer {
        case .trust: deliberation = .accepted
        case .standard, .unasked: deliberation = standard(trust)
        // The next callback asks the delegate of a request that still waits.
        case .gone: deliberation = .notBegun
        case .cancel: deliberation = .refused(.cancelled)
        case .none: deliberation = .refused(.unanswered)
        case .reject, .identity, .evaluated: deliberation = .refused(.rejected)
        }
    }

    // MARK: - Our own certificate

    package func engineNeedsIdentity(_ engine: TLSEngine) -> TLSIdentityAnswer {
        if case .notAsked = identification {
            guard handshake?.isAwaited() ?? true else { return .later }
            beginIdentification(engine)
        }
        switch identification {
        case .notAsked, .asking: return .later
        case .decided(let identity): return identity.map(TLSIdentityAnswer.show) ?? .none
        }
    }

    private func beginIdentification(_ engine: TLSEngine) {
        if let identity = security.configuration.identity, let name = PeerName(key.endpoint.host.text),
            identity.mayBeShown(to: name)
        {
            identification = .decided(identity)
            return
        }
        let question = HandshakeQuestion.identity(engine.acceptedAuthorities)
        guard let handshake, handshake.mayAsk else {
            identification = .decided(nil)
            return
        }
        identification = .asking
        handshake.ask(question) { [weak self] answer in self?.delegateIdentified(answer) }
    }

    private func delegateIdentified(_ answer: HandshakeAnswer) {
        guard case .asking = identification else { return }
        note(answer)
        switch answer {
        case .identity(let identity): identification = .decided(identity)
        case .gone: identification = .notAsked
        // Still asking: the handshake ends as soon as it sees this, and must not go on without a certificate.
        case .cancel: isCancelled = true
        case .trust, .standard, .unasked, .reject, .none, .evaluated: identification = .decided(nil)
        }
    }

    private func note(_ answer: HandshakeAnswer) {
        switch answer {
        case .unasked, .gone, .evaluated: return
        case .trust, .identity: followsDelegate = true
        case .standard, .reject, .cancel, .none: break
        }
        delegateWasAsked = true
    }

    /// Whether the server's chain passes the standard evaluation. Without an evaluator and a delegate it has.
    var isChainTrusted: Bool {
        if security.evaluator == nil, !followsDelegate { return true }
        return trust?.evaluation.isTrusted ?? false
    }
}
