import AFLoop

/// Calls a function after a while, once.
final class DelayTimer: TimerTarget, StopsWithLoad {
    private let loop: EventLoop
    private let fire: () -> Void
    private var timer: TimerID?

    init(after interval: LoopInterval, on loop: EventLoop, fire: @escaping () -> Void) {
        self.loop = loop
        self.fire = fire
        timer = loop.startTimer(at: loop.now + interval, in: .all, for: self)
    }

    func stop() {
        if let timer { loop.cancelTimer(timer) }
        timer = nil
    }

    func timerFired(_ timer: TimerID) {
        self.timer = nil
        fire()
    }
}
