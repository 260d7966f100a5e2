import AFBase
import AFLoop
import Foundation

/// The results of a mixed load.
final class Tally: Sendable {
    struct Counts: Sendable {
        /// Ends as they should be.
        var right = 0
        var cancelled = 0
        /// Failures of transport while servers were being replaced.
        var excused = 0
        /// How often there was which error.
        var codes: [Int: Int] = [:]
        /// What was wrong, and how often.
        var wrong: [String: Int] = [:]

        var wrongCount: Int { wrong.values.reduce(0, +) }

        var all: Int { right + cancelled + excused + wrongCount }
    }

    private struct State {
        var counts = Counts()
        var running = 0
        var disturbedUntil = ContinuousClock.now
        var isDisturbed = false
    }

    private let state = Lock(State())

    var counts: Counts { state.withLock { $0.counts } }
    var running: Int { state.withLock { $0.running } }

    /// What may happen when a server goes away: it times out, cannot be reached, breaks, is no TLS server, or the
    /// proxy says that it has not found it.
    private static let transport: Set<Int> = [-1001, -1004, -1005, -1011, -1200, 310]
    /// A proxy that does not reach the server, and a server that accepts connections and has no routes yet.
    private static let statuses: Set<Int> = [404, 502, 504]

    func disturbed(_ isDisturbed: Bool) {
        state.withLock { state in
            state.isDisturbed = isDisturbed
            state.disturbedUntil = .now
        }
    }

    func begin() { state.withLock { $0.running += 1 } }

    /// - Parameter start: When it was begun: whatever has happened to servers since then may have hit it.
    func end(_ end: End?, _ error: (any Error)?, since start: ContinuousClock.Instant) {
        state.withLock { state in
            state.running -= 1
            let wrong = error as? WrongEnd
            if let code = end?.code ?? wrong?.end.code { state.counts.codes[code, default: 0] += 1 }
            guard let error else {
                let isCancelled = end?.code == URLError.cancelled.rawValue
                if isCancelled { state.counts.cancelled += 1 } else { state.counts.right += 1 }
                return
            }
            let hit = state.isDisturbed || state.disturbedUntil + .seconds(1) > start
            let code = wrong?.end.code
            // A body that is complete and wrong is never excused.
            if hit, let code, Tally.transport.contains(code) { return state.counts.excused += 1 }
            if hit, wrong?.end.error == nil, let status = wrong?.end.status, Tally.statuses.contains(status) {
                return state.counts.excused += 1
            }
            state.counts.wrong["\(error)", default: 0] += 1
        }
    }
}
