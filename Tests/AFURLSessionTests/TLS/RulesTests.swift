import AFTLS
import CAFOpenSSL

@testable import AFURLSession
@testable import AFURLTypes

extension SecuredTests {
    /// The rules of a session, as each task gets them.
    struct Rules {
        /// Nothing is known of its decisions.
        private final class Unnamed: ServerEvaluator {
            func evaluate(_ trust: ServerTrust) -> ServerTrustDecision { .accept }
        }

        /// Makes another copy each time.
        private final class Restless: ServerEvaluator {
            func snapshot() -> any ServerEvaluator { Unnamed() }
            func evaluate(_ trust: ServerTrust) -> ServerTrustDecision { .accept }
        }

        /// A value that never changes.
        private struct Frozen: ServerEvaluator {
            let fingerprint: [UInt8]?
            func evaluate(_ trust: ServerTrust) -> ServerTrustDecision { .accept }
        }

        /// A value whose fingerprint changes from outside; its snapshots keep that of their time.
        private struct Changing: ServerEvaluator {
            let present: Lock<[UInt8]?>
            var fingerprint: [UInt8]?
            func snapshot() -> any ServerEvaluator {
                Changing(present: present, fingerprint: present.withLock { $0 })
            }
            func evaluate(_ trust: ServerTrust) -> ServerTrustDecision { .accept }
        }

        /// A value whose snapshots are of another type.
        private struct Freezing: ServerEvaluator {
            func snapshot() -> any ServerEvaluator { Frozen(fingerprint: nil) }
            func evaluate(_ trust: ServerTrust) -> ServerTrustDecision { .accept }
        }

        /// Its snapshots are of two types in turn, with one fingerprint.
        private final class Masked: ServerEvaluator {
            private let isFrozen = Lock(false)

            func snapshot() -> any ServerEvaluator {
                let isFrozen = isFrozen.withLock { isFrozen in
                    isFrozen.toggle()
                    return isFrozen
                }
                return isFrozen ? Frozen(fingerprint: [1]) : Changing(present: Lock(nil), fingerprint: [1])
            }
            func evaluate(_ trust: ServerTrust) -> ServerTrustDecision { .accept }
        }

        /// Its snapshots are an object and a value in turn.
        private final class Alternating: ServerEvaluator {
            private let object = Unnamed()
            private let turns = Lock(0)

            func snapshot() -> any ServerEvaluator {
                let turn = turns.withLock { turns in
                    turns += 1
                    return turns
                }
                return turn.isMultiple(of: 2) ? Frozen(fingerprint: nil) : object
            }
            func evaluate(_ trust: ServerTrust) -> ServerTrustDecision { .accept }
        }

        /// A session's rules, and which sets of them are over.
        private final class Bench {
            let security: SessionSecurity
            private(set) var retired: [[Int]] = []

            init(_ change: (inout TLSConfiguration) -> Void = { _ in }) {
                security = SessionSecurity(Self.configuration(change), connectionsPerHost: 6)
            }

            static func configuration(_ change: (inout TLSConfiguration) -> Void) -> TLSConfiguration {
                var configuration = TLSConfiguration()
                change(&configuration)
                return configuration
            }

            func replace(_ change: (inout TLSConfiguration) -> Void) { security.replace(Self.configuration(change)) }

            func context() -> SecurityContext {
                security.context { former, present in retired.append([former.id, present.id]) }
            }
        }

        @Test func `T-TLS-11 rules stay the same ones until something changes`() {
            let evaluator = Unnamed()
            for bench in [
                Bench(), Bench { $0.evaluator = evaluator }, Bench { $0.evaluator = FixedEvaluator.accepting },
                Bench { $0.evaluator = Frozen(fingerprint: nil) },
            ] {
                let first = bench.context()
                for _ in 1...3 { #expect(bench.context() === first) }
                #expect(bench.retired.isEmpty)
            }
        }

        @Test func `T-TLS-11 the same settings again change nothing, unless an evaluator has no fingerprint`() {
            let evaluator = Unnamed()
            let plain = Bench()
            let named = Bench { $0.evaluator = FixedEvaluator.accepting }
            let unnamed = Bench { $0.evaluator = evaluator }
            let before = [plain, named, unnamed].map { $0.context() }

            plain.replace { _ in }
            named.replace { $0.evaluator = FixedEvaluator.accepting }
            unnamed.replace { $0.evaluator = evaluator }

            #expect(plain.context() === before[0] && named.context() === before[1])
            #expect(unnamed.context().id == 2 && unnamed.retired == [[1, 2]])
            unnamed.replace { $0.evaluator = Unnamed() }
            #expect(unnamed.context().id == 3 && unnamed.retired == [[1, 2], [2, 3]])
        }

        @Test func `T-TLS-13 each new copy of an evaluator without a fingerprint is a change`() {
            let bench = Bench { $0.evaluator = Restless() }

            #expect((1...4).map { _ in bench.context().id } == [1, 2, 3, 4])
            bench.replace { $0.evaluator = Restless() }
            #expect((1...3).map { _ in bench.context().id } == [5, 6, 7])
            #expect(bench.retired.count == 6)
        }

        @Test func `T-TLS-13 a snapshot that gains or loses its fingerprint is a change`() {
            let present = Lock<[UInt8]?>(nil)
            let bench = Bench { $0.evaluator = Changing(present: present) }
            let fingerprints: [[UInt8]?] = [nil, [1], [1], nil, nil]

            let numbers = fingerprints.map { fingerprint in
                present.withLock { $0 = fingerprint }
                return bench.context().id
            }

            #expect(numbers == [1, 2, 2, 3, 3])
        }

        @Test func `T-TLS-13 snapshots that cannot be compared, and those of two types, are changes`() {
            for evaluator: any ServerEvaluator in [Alternating(), Freezing(), Masked()] {
                let bench = Bench { $0.evaluator = evaluator }
                #expect((1...4).map { _ in bench.context().id } == [1, 2, 3, 4])
            }
        }

        @Test func `T-TLS-11 each change of the rules is applied, of a later evaluator and of a proxy, too`() {
            let (first, later, ofProxy) = (SwitchedEvaluator([1]), SwitchedEvaluator([2]), SwitchedEvaluator([3]))
            let rules = SessionRules(Bench.configuration { $0.evaluator = first })
            let applied = Lock(0)
            let watch = RulesWatch(rules: rules, proxies: [Bench.configuration { $0.evaluator = ofProxy }]) {
                applied.withLock { $0 += 1 }
            }
            let steps: [() -> Void] = [
                { first.change(accepts: false) }, { ofProxy.change(accepts: false) },
                { watch.replace(Bench.configuration { $0.evaluator = later }) }, { later.change(accepts: false) },
                { watch.forgetAnswers() },
            ]
            for (index, step) in steps.enumerated() {
                let before = rules.number
                step()
                #expect(rules.number != before && applied.withLock { $0 } == index + 1, "\(index)")
            }
            #expect(rules.tls.evaluator as AnyObject === later)
        }

        @Test func `T-TLS-12 that other answers are given is told once for each time`() {
            let rules = SessionRules(TLSConfiguration())
            let watch = RulesWatch(rules: rules, proxies: []) {}
            watch.replace(TLSConfiguration())
            #expect(!rules.takeForgetsAnswers())

            for _ in 1...2 {
                watch.forgetAnswers()
                #expect(rules.takeForgetsAnswers())
                #expect(!rules.takeForgetsAnswers())
            }
        }

        @Test func `a session asks the evaluator that is set now, and none without one`() {
            let bench = Bench()
            #expect(!bench.security.hasEvaluator && !bench.security.forbidsPlainText(to: "a.test"))

            bench.replace { $0.evaluator = FixedEvaluator.accepting }
            #expect(bench.security.hasEvaluator && !bench.security.forbidsPlainText(to: "a.test"))

            bench.replace { _ in }
            #expect(!bench.security.hasEvaluator)
        }

        @Test func `OpenSSL is told of every other refusal that the application refused`() {
            let refusals: [TrustRefusal] = [
                .rule("pins", "no pin matches"), .rejected, .unanswered, .cancelled, .noAnchors("none"),
            ]
            for refusal in refusals { #expect(refusal.verifyResult == X509_V_ERR_APPLICATION_VERIFICATION) }
        }

        @Test func `a session that forgets has the same rules, and nothing of what was learnt`() {
            let bench = Bench()
            let before = bench.context()

            bench.security.forget()

            let after = bench.context()
            #expect(after !== before && after.fingerprint == before.fingerprint && bench.retired == [[1, 2]])
            #expect(bench.context() === after)
            bench.replace { _ in }
            #expect(bench.context() === after)
        }

        @Test func `a context of OpenSSL is made once, and again when it was forgotten`() throws {
            let rules = Bench().context()
            let first = try rules.context()
            #expect(try rules.context() === first)

            rules.forgetContext()

            let second = try rules.context()
            #expect(second !== first)
            #expect(try rules.context() === second)
        }

        @Test func `T-TLS-04 sessions are resumed only where it is known what an evaluator decides`() {
            #expect(Bench().context().mayResume)
            #expect(Bench { $0.evaluator = FixedEvaluator.accepting }.context().mayResume)
            #expect(!Bench { $0.evaluator = Unnamed() }.context().mayResume)
            #expect(!Bench { $0.resumesSessions = false }.context().mayResume)
        }

        @Test func `T-TLS-11 a fingerprint tells fields, kinds and what has no name apart`() {
            func bytes(_ kind: String, _ fields: String...) -> [UInt8] {
                var fingerprint = TrustFingerprint(kind)
                for field in fields { fingerprint.add(field.utf8) }
                return fingerprint.bytes
            }
            #expect(bytes("a", "b") == bytes("a", "b") && bytes("a", "b") != bytes("b", "b"))
            #expect(
                Set([bytes("a", "bc"), bytes("a", "b", "c"), bytes("a", "", "bc"), bytes("a", "bc", "")]).count == 4
            )
            // An evaluator without a fingerprint is known by a number, which no evaluator with a fingerprint can equal.
            let seven = FixedEvaluator(Array("7".utf8)) { _ in .accept }
            let unnamed = FixedEvaluator { _ in .accept }
            let tls = TLSConfiguration()
            #expect(tls.fingerprint(seven, unnamed: 7) != tls.fingerprint(unnamed, unnamed: 7))
        }

        @Test func `T-TLS-59 settings that cannot be are brought to those that can`() {
            let levels = [-1: 0, 0: 0, 5: 5, 6: 5, .max: 5]
            for (asked, given) in levels {
                #expect(Bench.configuration { $0.securityLevel = asked }.parameters.securityLevel == given)
            }
            let backwards = Bench.configuration { tls in
                tls.minimumVersion = .v1_3
                tls.maximumVersion = .v1_2
            }
            #expect(backwards.parameters.versions == .v1_3 ... .v1_3)
            #expect(Bench.configuration { $0.maximumVersion = .v1_2 }.parameters.versions == .v1_2 ... .v1_2)
            #expect(!Bench.configuration { $0.resumesSessions = false }.parameters.resumes)
            #expect(Bench.configuration { $0.ciphers = "HIGH" }.parameters.ciphers == "HIGH")
        }
    }
}
