import AFLoop
package import AFURLSession

/// Runs what would block on the test's own thread: at once, or after a while of virtual
/// time, as a slow disk would.
package final class VirtualWorkers: BlockingWorkers, BlockingWorker {
    private struct State: Sendable {
        var delay = Duration.zero
        /// Work is done in its order, however long each piece takes.
        var freeAt = LoopInstant(nanoseconds: 0)
    }

    private let state = Lock(State())
    private let loop: EventLoop
    private let faults: ThreadBound<Faults>

    init(loop: EventLoop, faults: Faults) {
        self.loop = loop
        self.faults = ThreadBound(faults)
    }

    /// How long each piece of work takes from now on.
    package func take(_ duration: Duration) {
        state.withLock { $0.delay = duration }
    }

    package func sharedWorker() -> any BlockingWorker { self }
    package func ownWorker(_ label: String) -> any BlockingWorker { self }

    /// On the loop, which is where work is given out.
    package func run(_ job: @escaping @Sendable () -> Void) {
        let faults = faults.value
        let late = faults.strikes(.diskSlow) ? faults.delay(.diskSlow, milliseconds: 1...300) : 0
        let now = loop.now
        let due = state.withLock { state in
            var due = now + state.delay + .nanoseconds(late)
            if due <= state.freeAt { due = state.freeAt + .nanoseconds(1) }
            if due > now { state.freeAt = due }
            return due
        }
        guard due > now else { return job() }
        _ = loop.startTimer(at: due, for: DelayedJob(job))
    }
}

private final class DelayedJob: TimerTarget {
    private let job: @Sendable () -> Void

    init(_ job: @escaping @Sendable () -> Void) {
        self.job = job
    }

    func timerFired(_ timer: TimerID) {
        job()
    }
}
