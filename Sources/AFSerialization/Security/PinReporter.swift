import AFBase
import Dispatch
import Foundation

/// Brings reports from the network thread to the report handler, on a queue of its own.
///
/// Shared by a policy and its frozen copies, so that a handler set later hears of
/// connections under an earlier copy too.
final class PinReporter: Sendable {
    typealias Handler = @Sendable (PinningReport) -> Void

    /// How many may wait for a slow handler. Further ones are lost: a server that fails its pins fails them again.
    static let limit = 100

    private struct State: Sendable {
        var handler: Handler?
        var waiting = 0
    }

    private let state: Lock<State>
    private let queue = DispatchQueue(label: "AFNetworking.pinning-reports", qos: .utility)

    init(_ handler: Handler? = nil) {
        state = Lock(State(handler: handler))
    }

    var handler: Handler? {
        get { state.withLock { $0.handler } }
        set { state.set(\.handler, newValue) }
    }

    func post(_ report: PinningReport) {
        let isTaken = state.withLock { state in
            guard state.handler != nil, state.waiting < Self.limit else { return false }
            state.waiting += 1
            return true
        }
        guard isTaken else { return }
        queue.async {
            let handler = self.state.withLock { state in
                state.waiting -= 1
                return state.handler
            }
            handler?(report)
        }
    }

    /// Returns when the handler has had all reports that were posted before.
    func drain() async {
        await withCheckedContinuation { done in queue.async { done.resume() } }
    }
}
