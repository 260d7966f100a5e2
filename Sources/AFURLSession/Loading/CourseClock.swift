import AFLoop

/// Ends a task that has used up its time while it has no transfer whose deadlines would do that.
///
/// The time of a suspension does not count.
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

    /// Of what will be in the place of what is waited for.
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

    /// What comes next has the time that is left.
    func stop() {
        core?.course?.hardDeadline = deadlineOfNext
        cancelTimer()
    }

    func timerFired(_ timer: TimerID) {
        self.timer = nil
        guard let core else { return }
        // The loop has not heard of it yet.
        guard !core.isSuspended else { return suspend() }
        core.fail(.transfer(.outOfTime(core.isHeld ? .receivingBody : .waitingForHead)))
    }
}
