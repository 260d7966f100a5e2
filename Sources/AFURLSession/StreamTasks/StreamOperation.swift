import AFLoop
import Foundation

/// A read that waits for bytes. Confined to the loop.
final class StreamRead {
    typealias Handler = @Sendable (Data?, Bool, (any Error)?) -> Void

    let minimum: Int
    let maximum: Int
    let interval: LoopInterval?
    let isAwaited: Bool
    let handler: Handler
    var data = Data()
    var clock: StreamClock?

    init(_ minimum: Int, _ maximum: Int, _ timeout: Double, isAwaited: Bool, _ handler: @escaping Handler) {
        self.maximum = max(0, maximum)
        self.minimum = min(max(0, minimum), self.maximum)
        interval = LoopInterval.limit(timeout)
        self.isAwaited = isAwaited
        self.handler = handler
    }

    var isFull: Bool { data.count >= maximum }
    var isEnough: Bool { data.count >= minimum }
}

/// A write that waits for room. Confined to the loop.
final class StreamWrite {
    typealias Handler = @Sendable ((any Error)?) -> Void

    let data: Data
    let interval: LoopInterval?
    let isAwaited: Bool
    let handler: Handler
    var sent = 0
    var clock: StreamClock?

    init(_ data: Data, _ timeout: Double, isAwaited: Bool, _ handler: @escaping Handler) {
        self.data = data
        interval = LoopInterval.limit(timeout)
        self.isAwaited = isAwaited
        self.handler = handler
    }

    var isSent: Bool { sent == data.count }
}

/// A timer that can be paused. Confined to the loop. Stop it before you release it.
final class StreamClock: TimerTarget {
    private let loop: EventLoop
    private let over: () -> Void
    private var left: LoopInterval
    private var running: (timer: TimerID, since: LoopInstant)?

    init(_ interval: LoopInterval, on loop: EventLoop, _ over: @escaping () -> Void) {
        self.loop = loop
        left = interval
        self.over = over
    }

    func start() {
        guard running == nil else { return }
        running = (loop.startTimer(at: loop.now + left, in: .all, for: self), loop.now)
    }

    func stop() {
        guard let running else { return }
        loop.cancelTimer(running.timer)
        let rest = left.nanoseconds - running.since.nanoseconds(to: loop.now)
        left = LoopInterval(.nanoseconds(max(0, rest)))
        self.running = nil
    }

    func timerFired(_ timer: TimerID) {
        running = nil
        left = LoopInterval(.zero)
        over()
    }
}
