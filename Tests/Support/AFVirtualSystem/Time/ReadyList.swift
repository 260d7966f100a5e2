package import AFLoop
package import AFTestSupport

/// Which virtual descriptors are watched, and which have become ready.
package final class ReadyList {
    private var tokens: [Int32: PollToken] = [:]
    private var pending: [Int32: Readiness] = [:]
    private var random: SeededGenerator
    /// In percent: how often part of what is ready is reported only the next time.
    private let holdsBack: Int
    package let faults: Faults

    /// How far time may jump without asking the driver again.
    package var horizon = LoopInstant.distantFuture
    /// Nothing was ready and nothing will be before the horizon.
    package private(set) var isQuiet = false
    /// How often the loop has polled.
    package private(set) var polls = 0
    /// The error with which the next registration fails.
    package var failsNextAdd: Int32?

    package init(random: SeededGenerator, holdsBack: Int, faults: Faults = Faults()) {
        self.random = random
        self.faults = faults
        self.holdsBack = holdsBack
    }

    package var watched: Int { tokens.count }
    package var hasPending: Bool { !pending.isEmpty }

    /// An edge. It reaches the loop once, together with earlier ones not yet taken.
    package func signal(_ descriptor: Int32, _ readiness: Readiness) {
        guard tokens[descriptor] != nil else { return }
        pending[descriptor, default: []].formUnion(readiness)
    }

    func add(_ descriptor: Int32, token: PollToken) throws(SystemCallError) {
        if let code = failsNextAdd {
            failsNextAdd = nil
            throw SystemCallError(.epollControl, code: code)
        }
        tokens[descriptor] = token
    }

    func remove(_ descriptor: Int32) {
        tokens[descriptor] = nil
        pending[descriptor] = nil
    }

    func pollEnded(quiet: Bool) {
        isQuiet = quiet
        if !quiet { polls += 1 }
    }

    func take(into events: inout [ReadyEvent]) {
        guard !pending.isEmpty else { return }
        var ready = pending.keys.sorted()
        if ready.count > 1 {
            let first = ready[0]
            ready.shuffle(using: &random)
            if ready[0] != first { faults.note(.readyReordered) }
            if faults.strikes(.readyHeldBack, or: random.chance(holdsBack)) {
                ready.removeLast(random.pick(1...(ready.count - 1)))
            }
        }
        for descriptor in ready {
            guard let token = tokens[descriptor], let readiness = pending.removeValue(forKey: descriptor) else {
                continue
            }
            events.append(ReadyEvent(token: token, readiness: readiness))
        }
    }
}
