import Foundation
import Synchronization

/// Hands out the requests of one run and keeps what became of each.
final class Tally: Sendable {
    private struct State {
        var unclaimed: Int
        var latencies: [UInt32] = []
        var bytes = 0
    }

    let total: Int
    private let state: Mutex<State>

    init(total: Int) {
        self.total = total
        var state = State(unclaimed: total)
        state.latencies.reserveCapacity(total)
        self.state = Mutex(state)
    }

    /// Whether there is another request to start.
    func claim() -> Bool {
        state.withLock { state in
            guard state.unclaimed > 0 else { return false }
            state.unclaimed -= 1
            return true
        }
    }

    /// Notes one loaded body; true when it was the last.
    func add(since start: UInt64, bytes: Int) -> Bool {
        let ticks = (Usage.nanoseconds() - start) / 100
        return state.withLock { state in
            state.latencies.append(UInt32(clamping: ticks))
            state.bytes += bytes
            return state.latencies.count == total
        }
    }

    /// Latencies in microseconds, shortest first, and the bytes of all bodies.
    func results() -> (latencies: [Double], bytes: Int) {
        state.withLock { ($0.latencies.sorted().map { Double($0) / 10 }, $0.bytes) }
    }
}
