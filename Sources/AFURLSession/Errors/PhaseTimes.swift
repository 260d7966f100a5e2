package import AFLoop
import AFTransport

extension LoadFailure {
    /// How long a load was in one phase.
    public struct Timing: Hashable, Sendable, CustomStringConvertible {
        /// The phase.
        public let phase: Phase
        /// How long the load was in it, all times together.
        public let duration: Duration

        package init(phase: Phase, duration: Duration) {
            self.phase = phase
            self.duration = duration
        }

        /// Phase and seconds.
        public var description: String {
            let milliseconds = duration.saturatingNanoseconds / 1_000_000
            return "\(phase.rawValue) \(Double(milliseconds) / 1000) s"
        }
    }
}

extension TransferTimes {
    /// How long each phase took, in the order in which they began, up to `end`. Their sum is the time since the
    /// transfer was made. A phase that took no time is left out, unless it is the last.
    package func timings(until end: LoopInstant, isReceiving: Bool) -> [LoadFailure.Timing] {
        let marks = marks(isReceiving: isReceiving).filter { $0.begun <= end }.enumerated()
            .sorted { ($0.element.begun, $0.offset) < ($1.element.begun, $1.offset) }
            .map(\.element)
        var order: [LoadFailure.Phase] = []
        var sums: [LoadFailure.Phase: Int64] = [:]
        for (index, mark) in marks.enumerated() {
            let next = index + 1 < marks.count ? marks[index + 1].begun : end
            let spent = mark.begun.nanoseconds(to: next)
            guard spent > 0 || index + 1 == marks.count else { continue }
            if sums[mark.phase] == nil { order.append(mark.phase) }
            sums[mark.phase, default: 0] += spent
        }
        return order.map { LoadFailure.Timing(phase: $0, duration: .nanoseconds(sums[$0] ?? 0)) }
    }

    /// Where one phase gives way to the next.
    private func marks(isReceiving: Bool) -> [(begun: LoopInstant, phase: LoadFailure.Phase)] {
        var marks: [(begun: LoopInstant, phase: LoadFailure.Phase)] = [(fetchStarted, .preparing)]
        func add(_ begun: LoopInstant?, phase: LoadFailure.Phase) {
            if let begun { marks.append((begun, phase)) }
        }
        // The pool may have begun to make the connection before this transfer waited for it.
        func addShared(_ begun: LoopInstant?, phase: LoadFailure.Phase) {
            add(begun.map { max($0, queueStarted) }, phase: phase)
        }
        add(queueStarted, phase: .queued)
        addShared(dial?.resolveStarted, phase: .resolving)
        addShared(dial?.connectStarted, phase: .connecting)
        addShared(dial?.connectEnded, phase: isProxied ? .proxy : .queued)
        addShared(handshake?.started, phase: .tls)
        addShared(handshake?.ended, phase: .queued)
        add(requestStarted, phase: .sending)
        // A server may answer while it reads the request.
        if let requestEnded { add(min(requestEnded, responseStarted ?? .distantFuture), phase: .waitingForHead) }
        if isReceiving { add(responseStarted, phase: .receivingBody) }
        add(responseEnded, phase: .delivering)
        return marks
    }
}

/// The details of a failed exchange that its error reports beside the cause.
package struct LoadAccount {
    package var timings: [LoadFailure.Timing] = []
    /// The addresses that the pool tried for its connection.
    package var attempts: [DialAttempt] = []

    package init(timings: [LoadFailure.Timing] = [], attempts: [DialAttempt] = []) {
        self.timings = timings
        self.attempts = attempts
    }
}
