import AFLoop

/// A wait by the clock of a loop, which tests set.
final class LoopSleep: TimerTarget {
    private let loop: EventLoop
    private var continuation: UnsafeContinuation<Void, Never>?
    private var timer: TimerID?
    private var isCancelled = false

    private init(_ loop: EventLoop) {
        self.loop = loop
    }

    /// Throws `CancellationError` if the Swift task is cancelled, and then at once.
    static func sleep(for duration: Duration, in world: World) async throws {
        let sleep = LoopBound(LoopSleep(world.loop), on: world.loop)
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                world.enqueue { sleep.value.start(duration, continuation) }
            }
        } onCancel: {
            world.enqueue { sleep.value.cancel() }
        }
        try Task.checkCancellation()
    }

    private func start(_ duration: Duration, _ continuation: UnsafeContinuation<Void, Never>) {
        self.continuation = continuation
        if isCancelled { return finish() }
        timer = loop.startTimer(at: loop.now + duration, for: self)
    }

    private func cancel() {
        isCancelled = true
        if let timer { loop.cancelTimer(timer) }
        finish()
    }

    func timerFired(_ timer: TimerID) { finish() }

    private func finish() {
        timer = nil
        continuation?.resume()
        continuation = nil
    }
}
