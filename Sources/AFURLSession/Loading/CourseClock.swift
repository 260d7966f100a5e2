import AFLoop

/// Ends a task whose time is over while it has no transfer, and so no deadline of one.
///
/// The time for which the task is suspended does not count.
final class CourseClock: TimerTarget {
    private weak var core: TaskCore?
    private let loop: EventLoop
    private var deadline: LoopInstant
    private var timer: TimerID?
    private var suspension: LoopInstant?

    init(of core: TaskCore, until deadline: LoopInstant) {
        self.core = core
        self.deadline = deadline
        loop = core.session.loop
        if core.isSuspended { suspension = loop.now } else { start() }
    }

    /// The deadline of the step that follows this wait.
    var deadlineOfNext: LoopInstant { suspension.map { deadline + $0.duration(to: loop.now) } ?? deadline }

    private func start() {
        timer = loop.startTimer(at: deadline, for: self)
    }

    private func cancelTimer() {
        if let timer { loop.cancelTimer(timer) }
        timer = nil
    }

    func suspend() {
        guard suspension == nil else { return }
        suspension = loop.now
        cancelTimer()
    }

    func resume() {
        guard suspension != nil else { return }
        deadline = deadlineOfNext
        suspension = nil
        start()
    }

    /// Stops, and leaves the remaining time to the next step.
    func stop() {
        core?.course?.hardDeadline = deadlineOfNext
        cancelTimer()
    }

    func timerFired(_ timer: TimerID) {
        self.timer = nil
        guard let core else { return }
        // The task was suspended on another thread, and the loop has not heard of it yet.
        guard !core.isSuspended else { return suspend() }
        core.fail(.transfer(.outOfTime(core.isHeld ? .receivingBody : .waitingForHead)))
    }
}
