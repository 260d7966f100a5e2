import AFBase
import AFLoop
import AFNetworkingTesting
import AFWire

@testable import AFTLS
@testable import AFTransport

extension SecuredTests {
    /// The judge of one connection, asked as OpenSSL asks it, in the middle of a handshake.
    struct Judges {
        private let stage: Stage

        init() throws {
            stage = try Stage()
        }

        @Test func `T-TLS-30 while no request waits, the judge decides about no server and asks for no identity`() {
            stage.onLoop { [stage] in
                let (judge, handshake) = try stage.judge()
                let engine = try stage.engine(judge)
                stage.client.isAwaited = false
                handshake.claimed()

                #expect(judge.engine(engine, judges: [stage.leaf]).word == "later")
                #expect(judge.engineNeedsIdentity(engine).word == "later")
                #expect(stage.client.questions.isEmpty && judge.trust == nil)

                stage.client.isAwaited = true
                #expect(judge.engine(engine, judges: [stage.leaf]).word == "later")
                #expect(stage.client.questions == ["trust"])
            }
        }

        @Test func `T-TLS-30 what a task that has left could not answer, the next one is asked`() {
            stage.onLoop { [stage] in
                let (judge, _) = try stage.judge()
                let engine = try stage.engine(judge)

                for round in 1...2 {
                    #expect(judge.engine(engine, judges: [stage.leaf]).word == "later")
                    #expect(judge.engine(engine, judges: [stage.leaf]).word == "later")
                    #expect(stage.client.questions.count == round)
                    stage.client.hasLeft = round == 1
                    stage.client.answer(.unasked)
                }
                #expect(judge.engine(engine, judges: [stage.leaf]).word == "accept")
                #expect(judge.isChainTrusted)
                for round in 3...4 {
                    #expect(judge.engineNeedsIdentity(engine).word == "later")
                    #expect(judge.engineNeedsIdentity(engine).word == "later")
                    #expect(stage.client.questions.count == round)
                    stage.client.hasLeft = round == 3
                    stage.client.answer(.unasked)
                }

                #expect(judge.engineNeedsIdentity(engine).word == "none")
                #expect(stage.client.questions == ["trust", "trust", "identity", "identity"])
                #expect(!judge.delegateWasAsked)
            }
        }

        @Test func `T-TLS-30 one answer alone trusts a stranger, and a refusal says which answer refused`() {
            let answers: [(HandshakeAnswer, String)] = [
                (.trust, "accepted"), (.standard, "evaluation"), (.unasked, "evaluation"), (.reject, "rejected"),
                (.evaluated(.accept), "rejected"), (.none, "unanswered"), (.cancel, "cancelled"),
            ]
            stage.onLoop { [stage] in
                for (answer, outcome) in answers {
                    let (judge, handshake) = try stage.judge()
                    let engine = try stage.engine(judge)
                    #expect(judge.engine(engine, judges: [stage.stranger]).word == "later")
                    stage.client.answer(answer)

                    let verdict = judge.engine(engine, judges: [stage.stranger]).word
                    #expect(verdict == (outcome == "accepted" ? "accept" : "refuse"), "\(answer)")
                    #expect(judge.refusal.word == outcome, "\(answer)")
                    #expect(judge.followsDelegate == (outcome == "accepted"), "\(answer)")
                    #expect(!judge.hasOfferedSession && !(judge.followsDelegate && judge.isChainTrusted))
                    judge.serve(nil)
                    withExtendedLifetime(handshake) {}
                }
            }
        }

        @Test func `a delegate that was asked for an identity alone counts as asked`() {
            stage.onLoop { [stage] in
                let (judge, _) = try stage.judge()
                let engine = try stage.engine(judge)

                #expect(judge.engineNeedsIdentity(engine).word == "later")
                stage.client.answer(.none)

                #expect(judge.engineNeedsIdentity(engine).word == "none")
                #expect(judge.delegateWasAsked)
            }
        }

        @Test func `T-TLS-31 without a handshake to wait, an evaluator that takes time refuses the server`() throws {
            let slow = try Stage(evaluator: NeverAskedEvaluator())
            slow.onLoop { [slow] in
                let (judge, _) = try slow.judge()
                let engine = try slow.engine(judge)
                judge.serve(nil)

                #expect(judge.engine(engine, judges: [slow.leaf]).word == "refuse")
                guard case .unanswered? = judge.refusal else {
                    Issue.record("\(String(describing: judge.refusal))")
                    return
                }
                #expect(judge.engineNeedsIdentity(engine).word == "none")
            }
        }
    }
}

/// What a judge needs, without a network.
private final class Stage {
    let leaf: Certificate
    /// Of another authority.
    let stranger: Certificate
    let client = AskingClient()
    private let key: ConnectionKey
    private let security: SecurityContext
    private let platform: Platform

    init(evaluator: (any ServerEvaluator)? = nil) throws {
        let loop = EventLoop(poller: EpollPoller())
        platform = Platform(
            loop: loop,
            opener: SocketOpener(),
            resolver: LoopBound(GetaddrinfoResolver(loop: loop), on: loop)
        )
        let authority = try CertificateAuthority()
        leaf = try authority.issue(for: "api.test").certificate
        stranger = try CertificateAuthority().issue(for: "api.test").certificate
        var configuration = TLSConfiguration()
        configuration.anchors = .certificates([authority.certificate])
        security = SecurityContext(
            id: 1,
            configuration: configuration,
            evaluator: evaluator,
            fingerprint: [],
            sessionsPerPeer: 2
        )
        let endpoint = try Endpoint(scheme: .https, host: "api.test")
        key = ConnectionKey(endpoint: endpoint, unixPath: nil, security: security)
    }

    /// Runs the test in a turn of the loop.
    func onLoop(_ test: @escaping () throws -> Void) {
        nonisolated(unsafe) let test = test
        platform.loop.enqueue { #expect(throws: Never.self) { try test() } }
        platform.loop.runTurn(until: platform.loop.now)
    }

    func judge() throws -> (HandshakeJudge, Handshake) {
        let handshake = Handshake(
            on: try ScriptedChannel(),
            to: key,
            under: security,
            platform: platform,
            client: client,
            asker: client
        )
        let judge = HandshakeJudge(key: key, security: security, platform: platform)
        judge.serve(handshake)
        return (judge, handshake)
    }

    func engine(_ judge: HandshakeJudge) throws -> TLSEngine {
        try TLSEngine(context: security.context(), serverName: "api.test", resuming: nil, client: judge)
    }

    deinit {
        platform.loop.retire()
    }
}

/// A connection in the making, and its delegate.
private final class AskingClient: HandshakeClient, HandshakeAsker, HandshakeDelegate {
    var isAwaited = true
    var hasLeft = false
    private(set) var questions: [String] = []
    private var pending: ((HandshakeAnswer) -> Void)?

    func answer(_ answer: HandshakeAnswer) {
        let asked = pending
        pending = nil
        asked?(answer)
    }

    func handshakeSucceeded(_ handshake: Handshake, channel: TLSChannel) {}
    func handshakeFailed(_ handshake: Handshake, failure: HandshakeFailure) {}
    func chooseDelegate() -> (any HandshakeDelegate)? { self }

    var mayBeAsked: Bool { true }

    func ask(_ question: HandshakeQuestion, answer: @escaping (HandshakeAnswer) -> Void) {
        switch question {
        case .serverTrust: questions.append("trust")
        case .identity: questions.append("identity")
        }
        pending = answer
    }
}

private struct NeverAskedEvaluator: BlockingServerEvaluator {
    func evaluate(_ trust: ServerTrust) -> ServerTrustDecision {
        Issue.record("the evaluator was asked")
        return .accept
    }
}

extension TLSVerdict {
    fileprivate var word: String {
        switch self {
        case .later: "later"
        case .accept: "accept"
        case .refuse: "refuse"
        }
    }
}

extension TrustRefusal? {
    fileprivate var word: String {
        switch self {
        case nil: "accepted"
        case .evaluation: "evaluation"
        case .rule: "rule"
        case .rejected: "rejected"
        case .unanswered: "unanswered"
        case .cancelled: "cancelled"
        case .noAnchors: "anchors"
        }
    }
}

extension TLSIdentityAnswer {
    fileprivate var word: String {
        switch self {
        case .later: "later"
        case .none: "none"
        case .show: "show"
        }
    }
}
