import AFLoop
import AFTransport

extension LoadFailure {
    /// How long a load was in one phase.
    public struct Timing: Hashable, Sendable, CustomStringConvertible {
        /// What it was doing.
        public let phase: Phase
        /// For how long, all times together.
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
    /// How long each phase took, in the order in which they began, up to `end`. Their sum is the time since the transfer
    /// was made; what took no time is left out, unless it is the last.
    func timings(until end: LoopInstant, isReceiving: Bool) -> [LoadFailure.Timing] {
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
        func add(_ begun: LoopInstant?, _ phase: LoadFailure.Phase) {
            if let begun { marks.append((begun, phase)) }
        }
        // A connection may have been in the making before anybody waited for it.
        func addShared(_ begun: LoopInstant?, _ phase: LoadFailure.Phase) {
            add(begun.map { max($0, queueStarted) }, phase)
        }
        add(queueStarted, .queued)
        addShared(dial?.resolveStarted, .resolving)
        addShared(dial?.connectStarted, .connecting)
        addShared(dial?.connectEnded, isProxied ? .proxy : .queued)
        addShared(handshake?.started, .tls)
        addShared(handshake?.ended, .queued)
        add(requestStarted, .sending)
        add(requestEnded, .waitingForHead)
        if isReceiving { add(responseStarted, .receivingBody) }
        add(responseEnded, .delivering)
        return marks
    }
}

/// What is known of an exchange that failed, beside why.
struct LoadAccount {
    var timings: [LoadFailure.Timing] = []
    /// The addresses that were tried for its connection.
    var attempts: [DialAttempt] = []
}

extension Transfer {
    /// How it went until now.
    ///
    /// - Parameter wait: For a network, if there was one.
    func account(at now: LoopInstant, after wait: ConnectivityWait?) -> LoadAccount {
        let end = wait?.since ?? now
        var timings = times.timings(until: end, isReceiving: phase == .receivingBody)
        if let wait {
            let waited = LoadFailure.Timing(
                phase: .waitingForConnectivity,
                duration: wait.waited + end.duration(to: now)
            )
            timings.insert(waited, at: wait.since == nil ? 0 : timings.count)
        }
        return LoadAccount(timings: timings, attempts: times.dial?.attempts ?? [])
    }

    /// What an error says beside what it was waiting for. A server may answer early and want the rest of the body all
    /// the same.
    var remark: String? {
        guard phase == .receivingBody, times.requestEnded == nil else { return nil }
        return "The server answered before it had all of the request's body, and the rest was not sent."
    }
}
