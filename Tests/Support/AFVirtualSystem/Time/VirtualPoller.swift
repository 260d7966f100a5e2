import AFBase
package import AFLoop

/// Readiness of virtual descriptors, and time that jumps to whatever comes next.
package final class VirtualPoller: Poller {
    private let clock: ThreadBound<VirtualClock>
    private let readiness: ThreadBound<ReadyList>
    private let flag = WakeFlag()

    package init(clock: ThreadBound<VirtualClock>, readiness: ThreadBound<ReadyList>) {
        self.clock = clock
        self.readiness = readiness
    }

    package var now: LoopInstant { clock.value.now }
    package var waker: any Waker { flag }

    package func add(_ descriptor: Int32, token: PollToken) throws(SystemCallError) {
        try readiness.value.add(descriptor, token: token)
    }

    package func remove(_ descriptor: Int32) {
        readiness.value.remove(descriptor)
    }

    package func poll(until deadline: LoopInstant?, into events: inout [ReadyEvent]) {
        let clock = clock.value
        let ready = readiness.value
        ready.pollEnded(quiet: false)
        // As when a signal has interrupted it.
        if ready.faults.strikes(.readyNothing) { return }
        while true {
            clock.runDue()
            let before = events.count
            ready.take(into: &events)
            if events.count > before || flag.take() { return }
            // Only a look was asked for.
            if let deadline, deadline <= clock.now { return }
            guard let next = [deadline, clock.next].compactMap({ $0 }).min(), next <= ready.horizon else { break }
            clock.advance(to: next == deadline ? late(next, ready) : next)
        }
        ready.pollEnded(quiet: true)
    }

    /// When a sleeper that wanted to be woken at `time` wakes.
    private func late(_ time: LoopInstant, _ ready: ReadyList) -> LoopInstant {
        let faults = ready.faults
        if faults.strikes(.processStopped) {
            return time + .nanoseconds(faults.delay(.processStopped, milliseconds: 60_000...1_200_000))
        }
        if faults.strikes(.timerVeryLate) {
            return time + .nanoseconds(faults.delay(.timerVeryLate, milliseconds: 1000...30_000))
        }
        guard faults.strikes(.timerLate) else { return time }
        return time + .nanoseconds(faults.delay(.timerLate, milliseconds: 0...50))
    }
}

/// Remembers that the poller was woken. No thread ever sleeps here.
private final class WakeFlag: Waker {
    private let isSet = Lock(false)

    func wake() {
        isSet.withLock { $0 = true }
    }

    func take() -> Bool {
        isSet.withLock { isSet in
            defer { isSet = false }
            return isSet
        }
    }
}
