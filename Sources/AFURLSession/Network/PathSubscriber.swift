import AFBase
import AFLoop

/// A subscriber to a path: an observation, or a stream.
final class PathSubscriber: Sendable {
    typealias Delivery = @Sendable (NetworkPath) -> Void

    private struct State: Sendable {
        var delivery: Delivery?
        var isOver = false
    }

    let target: PathTarget
    /// The result of the lookup, which the monitor reads too.
    let finding: Lock<HostFinding>
    private let state = Lock(State())

    init(target: PathTarget, finding: Lock<HostFinding>) {
        self.target = target
        self.finding = finding
    }

    var isOver: Bool { state.withLock { $0.isOver } }

    func begin(_ delivery: @escaping Delivery) {
        state.withLock { $0.delivery = delivery }
    }

    func deliver(_ path: NetworkPath) {
        let delivery = state.withLock { $0.delivery }
        delivery?(path)
    }

    /// False if it had ended before.
    func end() -> Bool {
        // Release it after the lock: it holds the caller's objects.
        var delivery: Delivery?
        return state.withLock { state in
            guard !state.isOver else { return false }
            state.isOver = true
            swap(&delivery, &state.delivery)
            return true
        }
    }
}

/// The result of looking up a name.
enum HostFinding: Sendable, Hashable {
    case pending
    case found([SocketAddress])
    case failed(ResolutionFailure)

    var addresses: [SocketAddress] { if case .found(let addresses) = self { addresses } else { [] } }
}
