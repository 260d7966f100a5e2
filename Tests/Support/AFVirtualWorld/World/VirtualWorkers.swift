import AFLoop
package import AFURLSession

/// Runs what would block on the test's own thread: at once, or after a while of virtual
/// time, as a slow disk would.
package final class VirtualWorkers: BlockingWorkers, BlockingWorker {
    private let delay = Lock(Duration.zero)
    private let loop: EventLoop

    init(loop: EventLoop) {
        self.loop = loop
    }

    /// How long each piece of work takes from now on.
    package func take(_ duration: Duration) {
        delay.withLock { $0 = duration }
    }

    package func sharedWorker() -> any BlockingWorker { self }
    package func ownWorker(_ label: String) -> any BlockingWorker { self }

    /// On the loop, which is where work is given out.
    package func run(_ job: @escaping @Sendable () -> Void) {
        let delay = delay.withLock { $0 }
        guard delay > .zero else { return job() }
        _ = loop.startTimer(at: loop.now + delay, for: DelayedJob(job))
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
