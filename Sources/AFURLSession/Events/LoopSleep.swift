import AFLoop
import AFURLTypes

/// A wait of a session by the clock of its loop, which tests set. The session ends it when it is invalidated.
final class LoopSleep: TimerTarget {
    private let loop: EventLoop
    private let session: LoopBound<SessionCore>
    private var continuation: UnsafeContinuation<Void, Never>?
    private var timer: TimerID?
    private var isCancelled = false

    private init(_ session: URLSession) {
        loop = session.world.loop
        self.session = session.core
    }

    /// Throws `URLError.cancelled` if the Swift task is cancelled, and then at once. Returns early if the session is
    /// invalidated: what the caller does next with the session fails, and says why.
    static func sleep(for duration: Duration, in session: URLSession) async throws {
        let world = session.world
        let sleep = LoopBound(LoopSleep(session), on: world.loop)
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                world.enqueue { sleep.value.start(duration, continuation: continuation) }
            }
        } onCancel: {
            world.enqueue { sleep.value.cancel() }
        }
        if Task.isCancelled { throw LoadError.cancelled.urlError(for: nil) }
    }

    private func start(_ duration: Duration, continuation: UnsafeContinuation<Void, Never>) {
        self.continuation = continuation
        if isCancelled || session.value.isInvalidated { return finish() }
        session.value.sleepers[ObjectIdentifier(self)] = cancel
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
        session.value.sleepers[ObjectIdentifier(self)] = nil
        continuation?.resume()
        continuation = nil
    }
}
