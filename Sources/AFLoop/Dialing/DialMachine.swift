/// Happy Eyeballs (RFC 8305): which address to try next, and when the race is over.
///
/// Attempts are numbered by the place of their address. The driver starts them,
/// and while `hasUntried` it waits `attemptDelay` before offering `delayElapsed`.
package struct DialMachine: Sendable {
    package enum Action: Sendable, Equatable {
        case wait
        case attempt(Int)
        /// This attempt won; all others still running are to be closed.
        case connected(Int)
        case fail
    }

    /// RFC 8305 §5: the recommended Connection Attempt Delay.
    package static let attemptDelay = Duration.milliseconds(250)

    /// A resolver that answers with hundreds of addresses does not get hundreds of connections.
    package static let maximumAddresses = 16

    package private(set) var addresses: [SocketAddress]
    /// The addresses of the other family may follow.
    package private(set) var awaitsMore: Bool
    private var next = 0
    /// No more than there are addresses, so that a list is as good as a set.
    private var running: [Int] = []
    private var isOver = false

    package init(_ found: [SocketAddress], awaitsMore: Bool = false) {
        addresses = DialMachine.interleaved(found)
        self.awaitsMore = awaitsMore
    }

    package var hasUntried: Bool { !isOver && next < addresses.count }

    package mutating func start() -> Action { attemptNext() }

    package mutating func delayElapsed() -> Action { hasUntried ? attemptNext() : .wait }

    /// All addresses are known. Those that are new go among the untried ones (RFC 8305 §3).
    package mutating func add(_ found: [SocketAddress]) -> Action {
        guard !isOver, awaitsMore else { return .wait }
        awaitsMore = false
        let tried = addresses[..<next]
        let rest = addresses[next...] + found.filter { !addresses.contains($0) }
        let (same, other) = (
            rest.filter { $0.family == tried.last?.family }, rest.filter { $0.family != tried.last?.family }
        )
        addresses = Array((tried + DialMachine.interleaved(other + same)).prefix(DialMachine.maximumAddresses))
        return running.isEmpty ? attemptNext() : .wait
    }

    package mutating func attemptFailed(_ attempt: Int) -> Action {
        guard !isOver, let place = running.firstIndex(of: attempt) else { return .wait }
        running.remove(at: place)
        if hasUntried { return attemptNext() }
        guard running.isEmpty, !awaitsMore else { return .wait }
        isOver = true
        return .fail
    }

    package mutating func attemptConnected(_ attempt: Int) -> Action {
        guard !isOver, running.contains(attempt) else { return .wait }
        isOver = true
        return .connected(attempt)
    }

    private mutating func attemptNext() -> Action {
        guard hasUntried else {
            isOver = true
            return .fail
        }
        defer { next += 1 }
        running.append(next)
        return .attempt(next)
    }

    /// RFC 8305 §4: the resolver's order within each family, the families in turn,
    /// beginning with that of the most preferred address. Each address once.
    private static func interleaved(_ found: [SocketAddress]) -> [SocketAddress] {
        guard found.count > 1 else { return found }
        var seen: Set<SocketAddress> = []
        let unique = found.filter { seen.insert($0).inserted }
        guard let first = unique.first else { return [] }
        var leading = unique.filter { $0.family == first.family }[...]
        var other = unique.filter { $0.family != first.family }[...]
        var order: [SocketAddress] = []
        while order.count < maximumAddresses, let address = leading.popFirst() ?? other.popFirst() {
            order.append(address)
            if order.count < maximumAddresses, let alternate = other.popFirst() { order.append(alternate) }
        }
        return order
    }
}
