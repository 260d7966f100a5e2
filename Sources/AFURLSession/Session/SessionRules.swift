import AFBase
import AFTransport
import Synchronization

/// The rules by which a session judges its servers, as they are now.
///
/// They change when the program sets `URLSession.tls`, when an evaluator changes itself, and when a delegate begins to
/// answer challenges by other rules. A change counts at once: the loop looks at the number of changes before a request
/// leaves. A change may come from another thread in the middle of a turn, and the job that applies it waits for the next.
final class SessionRules: Sendable {
    private struct State {
        var tls: TLSConfiguration
        var forgetsAnswers = false
    }

    private let state: Lock<State>
    private let changes = Atomic<UInt64>(0)

    init(_ tls: TLSConfiguration) {
        state = Lock(State(tls: tls))
    }

    var tls: TLSConfiguration { state.withLock { $0.tls } }

    /// How often the rules have changed.
    var number: UInt64 { changes.load(ordering: .acquiring) }

    fileprivate func replace(_ tls: TLSConfiguration) {
        // Release the old value after the lock: that may run code of the program.
        var tls = tls
        state.withLock { swap(&$0.tls, &tls) }
    }

    fileprivate func forgetAnswers() {
        state.withLock { $0.forgetsAnswers = true }
    }

    /// Whether others answer challenges than before the last call.
    func takeForgetsAnswers() -> Bool {
        state.withLock { state in
            defer { state.forgetsAnswers = false }
            return state.forgetsAnswers
        }
    }

    fileprivate func countChange() {
        changes.add(1, ordering: .releasing)
    }
}

/// Counts the changes of a session's rules, and has the session apply them.
final class RulesWatch: ServerEvaluatorObserver {
    private let rules: SessionRules
    private let apply: @Sendable () -> Void

    /// - Parameters:
    ///   - rules: The rules that it watches.
    ///   - proxies: How connections to proxies are secured: their evaluators may change as well.
    ///   - apply: Called after each change, on the thread that has made it.
    init(rules: SessionRules, proxies: [TLSConfiguration], apply: @escaping @Sendable () -> Void) {
        self.rules = rules
        self.apply = apply
        for tls in [rules.tls] + proxies { tls.evaluator?.add(self) }
    }

    func replace(_ tls: TLSConfiguration) {
        tls.evaluator?.add(self)
        rules.replace(tls)
        evaluatorDidChange()
    }

    func forgetAnswers() {
        rules.forgetAnswers()
        evaluatorDidChange()
    }

    func evaluatorDidChange() {
        rules.countChange()
        apply()
    }
}
