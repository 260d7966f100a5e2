import AFBase
import AFLoop
package import AFTransport

/// Runs what would block on the test's own thread: at once, or after a while of virtual
/// time, as a slow disk would.
package final class VirtualWorkers: BlockingWorkers, BlockingWorker {
    private struct State: Sendable {
        var delay = Duration.zero
        /// Work is done in its order, however long each piece takes, and however late its timer is.
        var waiting: [@Sendable () -> Void] = []
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
        let due = state.withLock { state -> LoopInstant? in
            var due = now + state.delay + .nanoseconds(late)
            if due <= state.freeAt || (due == now && !state.waiting.isEmpty) {
                due = max(now, state.freeAt) + .nanoseconds(1)
            }
            guard due > now else { return nil }
            state.freeAt = due
            state.waiting.append(job)
            return due
        }
        guard let due else { return job() }
        _ = loop.startTimer(at: due, for: NextJob(self))
    }

    fileprivate func runNext() {
        let job = state.withLock { $0.waiting.removeFirst() }
        job()
    }
}

private final class NextJob: TimerTarget {
    private let workers: VirtualWorkers

    init(_ workers: VirtualWorkers) {
        self.workers = workers
    }

    func timerFired(_ timer: TimerID) {
        workers.runNext()
    }
}
