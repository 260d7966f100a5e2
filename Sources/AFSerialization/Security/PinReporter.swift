import AFBase
import Dispatch
public import Foundation

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

/// A server whose chain is valid but has none of the pins that a rule asks for.
public struct PinningReport: Sendable, Hashable {
    /// The host of the URL.
    public let host: String
    /// The moment of the decision.
    public let date: Date
    /// The rule that was not met.
    public let rule: HostRule
    /// Whether the server was refused. False for a rule that only reports.
    public let isRefused: Bool
    /// The certificates as the server sent them, its own first.
    public let servedChain: [Certificate]
    /// The certificates that were proven, up to an authority: where a pin was looked for.
    public let verifiedChain: [Certificate]
    /// What the decision says: the pins that were expected, and those that the chain has.
    public let explanation: String

    /// The pins of the proven certificates.
    public var pins: [PublicKeyPin] { verifiedChain.map(\.pin) }
}
