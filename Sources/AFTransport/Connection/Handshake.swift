import AFBase
package import AFLoop
package import AFTLS
import AFWire
import Dispatch

package protocol HandshakeClient: AnyObject {
    func handshakeSucceeded(_ handshake: Handshake, channel: TLSChannel)
    func handshakeFailed(_ handshake: Handshake, failure: HandshakeFailure)
}

/// Those who wait for a connection, as its handshake sees them.
package protocol HandshakeAsker: AnyObject {
    /// Whether a request waits for the connection.
    var isAwaited: Bool { get }
    /// The delegate that the handshake may ask about the server, if there is one.
    func chooseDelegate() -> (any HandshakeDelegate)?
    /// Whether the request whose delegate was asked last does not wait any more.
    var hasLeft: Bool { get }
}

/// Why a connection was not secured, with all that is known of the server.
package struct HandshakeFailure: Error {
    package enum Cause {
        case tls(TLSFailure)
        case broken(SystemCallError)
        case refused(TrustRefusal)
        case identityCancelled
    }

    package let cause: Cause
    package var trust: ServerTrust?
    package var wasAskedForIdentity = false
    package var hasShownIdentity = false
}

/// Secures one connected channel. It calls nothing back once it has succeeded, failed or been cancelled.
package final class Handshake: ChannelHandler, TimerTarget {
    package private(set) var report: HandshakeReport

    private let key: ConnectionKey
    private let security: SecurityContext
    private let platform: Platform
    private let buffers: TLSBuffers
    private let judge: HandshakeJudge
    private var client: (any HandshakeClient)?
    private var asker: (any HandshakeAsker)?
    private var raw: (any ByteChannel)?
    private var channel: TLSChannel?
    private var decisionTimer: TimerID?
    private var isParked = false
    /// It once stopped, because no request waited for the connection.
    private(set) var wasParked = false
    private var pending: Question<HandshakeAnswer>?

    /// - Parameters:
    ///   - buffers: Buffers of its own, if another secured connection is made within this one. Nil: those that all
    ///     connections of the loop share.
    ///   - asker: Nil if the server is judged alike for every request: the handshake waits for none, and asks no
    ///     delegate.
    package init(
        on channel: any ByteChannel,
        to key: ConnectionKey,
        under security: SecurityContext,
        platform: Platform,
        buffers: TLSBuffers? = nil,
        client: any HandshakeClient,
        asker: (any HandshakeAsker)?
    ) {
        raw = channel
        self.key = key
        self.security = security
        self.platform = platform
        self.buffers = buffers ?? platform.tlsBuffers.value
        self.client = client
        self.asker = asker
        judge = HandshakeJudge(key: key, security: security, platform: platform)
        report = HandshakeReport(
            started: platform.loop.now,
            remote: channel.remoteAddress,
            local: channel.localAddress
        )
    }

    package func start() {
        judge.serve(self)
        let this = LoopBound(confined: self, on: platform.loop)
        platform.trustStores.prepare(security.configuration.anchors, for: platform.loop) { problem in
            this.value.anchorsReady(problem)
        }
    }

    package func cancel() {
        finish()
        raw?.close()
        raw = nil
        channel?.close()
        channel = nil
    }

    private func anchorsReady(_ problem: TrustAnchorsError?) {
        guard client != nil, let raw else { return }
        if let problem { return fail(.refused(.noAnchors(problem.description))) }
        do throws(TLSFailure) {
            let engine = try TLSEngine(
                context: security.context(),
                serverName: key.endpoint.host.serverName,
                resuming: judge.sessionToResume(),
                client: judge
            )
            let channel = TLSChannel(channel: raw, engine: engine, buffers: buffers)
            self.raw = nil
            self.channel = channel
            channel.handler = self
            advance()
        } catch {
            fail(.tls(error))
        }
    }

    package func channelReady() {
        advance()
    }

    private func advance() {
        // While a delegate or an evaluator decides, nothing that the network brings matters.
        guard let channel, pending == nil else { return }
        guard platform.handshakeBudget.value.take(in: platform.loop.turn) else { return channel.continueNextTurn() }
        switch channel.handshake() {
        case .waiting: break
        case .finished: succeed(channel)
        case .failed(let failure): fail(failure.kind == .refused ? refused(failure) : .tls(failure))
        case .broken(let error): fail(.broken(error))
        }
    }

    private func refused(_ failure: TLSFailure) -> HandshakeFailure.Cause {
        judge.refusal.map(HandshakeFailure.Cause.refused) ?? .tls(failure)
    }

    private func succeed(_ channel: TLSChannel) {
        report.ended = platform.loop.now
        report.version = channel.engine.version
        report.cipherSuite = channel.engine.cipherSuite
        report.isResumed = channel.engine.isResumed
        report.agreedProtocol = channel.engine.agreedProtocol
        report.wasDecidedElsewhere = judge.delegateWasAsked
        report.followsDelegate = judge.followsDelegate
        report.isChainTrusted = judge.isChainTrusted
        report.toleratedFlaws = judge.trust?.toleratedFlaws ?? []
        let client = client
        finish()
        self.channel = nil
        channel.handler = nil
        client?.handshakeSucceeded(self, channel: channel)
        // The channel comes after the pool, which hands out connections at the end of the turn.
        platform.loop.atTurnEnd(channel)
    }

    private func fail(_ cause: HandshakeFailure.Cause) {
        var failure = HandshakeFailure(cause: judge.refusal.map(HandshakeFailure.Cause.refused) ?? cause)
        // Before `cancel`, which gives up the engine that knows.
        failure.trust = judge.trust
        failure.wasAskedForIdentity = channel?.engine.wasAskedForIdentity ?? false
        failure.hasShownIdentity = channel?.engine.hasShownIdentity ?? false
        // The server may have failed over the session that we offered: the next attempt makes a full handshake.
        if judge.hasOfferedSession { security.sessions.forget(key) }
        if case .tls = failure.cause { security.forgetContext() }
        let client = client
        cancel()
        client?.handshakeFailed(self, failure: failure)
    }

    private func finish() {
        client = nil
        asker = nil
        pending?.withdraw()
        pending = nil
        judge.serve(nil)
        stopDecisionTimer()
    }

    // MARK: - Questions to the delegate

    /// Whether a request waits for the connection. If none does, the handshake stops: the delegate of a later request
    /// may want to be asked about the server.
    package func isAwaited() -> Bool {
        isParked = asker?.isAwaited == false
        wasParked = wasParked || isParked
        return !isParked
    }

    /// A request waits for the connection now.
    package func claimed() {
        guard isParked else { return }
        isParked = false
        advance()
    }

    private var delegate: (any HandshakeDelegate)? { asker?.chooseDelegate() }

    package var mayAsk: Bool { delegate?.mayBeAsked ?? false }

    /// The engine calls this from within a step: the answer must come later.
    package func ask(_ question: HandshakeQuestion, answer: @escaping (HandshakeAnswer) -> Void) {
        let asked = wait(for: answer)
        delegate?.ask(question) { [weak self] in self?.answered(asked, answer: $0) }
    }

    /// Asks an evaluator on another thread.
    package func ask(
        _ evaluator: any BlockingServerEvaluator,
        about trust: ServerTrust,
        answer: @escaping (HandshakeAnswer) -> Void
    ) {
        let asked = wait(for: answer)
        let loop = platform.loop
        // The evaluator may never decide; meanwhile it keeps no handshake alive.
        let answered: (ServerTrustDecision) -> Void = { [weak self] decision in
            self?.answered(asked, answer: .evaluated(decision))
        }
        let reply = LoopBound(confined: answered, on: loop)
        Handshake.evaluators.async {
            let decision = evaluator.evaluate(trust)
            loop.enqueue { reply.value(decision) }
        }
    }

    private static let evaluators = DispatchQueue(label: "AFURLSession.evaluators", attributes: .concurrent)

    private func wait(for answer: @escaping (HandshakeAnswer) -> Void) -> Question<HandshakeAnswer> {
        let limit = LoopInterval(timeout: security.configuration.decisionTimeout, default: 10)
        decisionTimer = platform.loop.startTimer(at: platform.loop.now + limit, for: self)
        let asked = Question(answer)
        pending = asked
        return asked
    }

    private func answered(_ question: Question<HandshakeAnswer>, answer: HandshakeAnswer) {
        guard question.isOpen else { return }
        // Before the judge is told: after the evaluator's answer it asks the delegate from within the call, and that
        // question is the pending one then.
        pending = nil
        stopDecisionTimer()
        // The task that was asked has left. That it had no method for the question says nothing about the tasks that
        // wait now.
        if case .unasked = answer, asker?.hasLeft == true {
            question.answer(.gone)
        } else {
            question.answer(answer)
        }
        if judge.isCancelled { return fail(.identityCancelled) }
        advance()
    }

    package func timerFired(_ timer: TimerID) {
        decisionTimer = nil
        if let pending { answered(pending, answer: .none) }
    }

    private func stopDecisionTimer() {
        if let decisionTimer { platform.loop.cancelTimer(decisionTimer) }
        decisionTimer = nil
    }
}
