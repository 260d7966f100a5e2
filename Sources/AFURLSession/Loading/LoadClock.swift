import AFLoop

/// A load with a deadline.
protocol LoadClockTarget: AnyObject {
    var isSuspended: Bool { get }
    /// The deadline has come.
    func timeIsOver()
}

/// Ends a load whose time is over while it has no exchange, and so no deadline of one.
///
/// The time for which the task is suspended does not count.
final class LoadClock: TimerTarget {
    private weak var load: (any LoadClockTarget)?
    private let loop: EventLoop
    private var deadline: LoopInstant
    private var timer: TimerID?
    private var suspension: LoopInstant?

    init(of load: any LoadClockTarget, until deadline: LoopInstant, on loop: EventLoop) {
        self.load = load
        self.deadline = deadline
        self.loop = loop
        if load.isSuspended { suspension = loop.now } else { start() }
    }

    /// The deadline of the step that follows this wait.
    var deadlineOfNext: LoopInstant { suspension.map { deadline + $0.duration(to: loop.now) } ?? deadline }

    private func start() {
        timer = loop.startTimer(at: deadline, for: self)
    }

    func stop() {
        if let timer { loop.cancelTimer(timer) }
        timer = nil
    }

    func suspend() {
        guard suspension == nil else { return }
        suspension = loop.now
        stop()
    }

    func resume() {
        guard suspension != nil else { return }
        deadline = deadlineOfNext
        suspension = nil
        start()
    }

    func timerFired(_ timer: TimerID) {
        self.timer = nil
        guard let load else { return }
        // The task was suspended on another thread, and the loop has not heard of it yet.
        guard !load.isSuspended else { return suspend() }
        load.timeIsOver()
    }
}
