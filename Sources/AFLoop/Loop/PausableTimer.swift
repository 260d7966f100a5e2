/// A timer that can be paused. Confined to the loop. Stop it before you release it.
package final class PausableTimer: TimerTarget {
    private let loop: EventLoop
    private let over: () -> Void
    private var left: LoopInterval
    private var running: (timer: TimerID, since: LoopInstant)?

    package init(after interval: LoopInterval, on loop: EventLoop, over: @escaping () -> Void) {
        self.loop = loop
        left = interval
        self.over = over
    }

    package var isRunning: Bool { running != nil }

    package func start() {
        guard running == nil else { return }
        running = (loop.startTimer(at: loop.now + left, in: .all, for: self), loop.now)
    }

    package func stop() {
        guard let running else { return }
        loop.cancelTimer(running.timer)
        let rest = left.nanoseconds - running.since.nanoseconds(to: loop.now)
        left = LoopInterval(.nanoseconds(max(0, rest)))
        self.running = nil
    }

    package func timerFired(_ timer: TimerID) {
        running = nil
        left = LoopInterval(.zero)
        over()
    }
}
