import AFBase
package import AFLoop
import AFTestSupport
package import AFURLSession
import AFVirtualSystem

/// A serial delegate queue whose callbacks run when the seed says so, on the test's
/// thread, and never inside a turn of the loop.
package final class VirtualQueue: CallbackExecutor, VirtualCallbacks {
    private struct State {
        var waiting: [(due: LoopInstant, callback: Callback)] = []
        var first = 0
        var freeAt: LoopInstant
        var random: SeededGenerator
        /// In nanoseconds: how long the queue takes to get to a batch.
        var delay: ClosedRange<Int> = 0...0
        var isStopped = false
    }

    private let clock: ThreadBound<VirtualClock>
    private let ready: ThreadBound<ReadyList>
    private let faults: ThreadBound<Faults>
    private let state: Lock<State>

    init(clock: ThreadBound<VirtualClock>, ready: ThreadBound<ReadyList>, random: SeededGenerator) {
        self.clock = clock
        self.ready = ready
        faults = ThreadBound(ready.value.faults)
        state = Lock(State(freeAt: clock.value.now, random: random))
    }

    package func setDelay(_ delay: ClosedRange<Int>) {
        state.withLock { $0.delay = delay }
    }

    /// Runs nothing until it is told to go on.
    package func stop() {
        state.withLock { $0.isStopped = true }
    }

    package func goOn() {
        state.withLock { $0.isStopped = false }
    }

    /// For a callback that takes this long: nothing else runs on the queue meanwhile.
    package func sleep(for duration: Duration) {
        let now = clock.value.now
        state.withLock { $0.freeAt = max($0.freeAt, now) + duration }
    }

    package func run(_ batch: [Callback]) {
        let now = clock.value.now
        let late = lateness
        state.withLock { state in
            let due = now + .nanoseconds(state.random.pick(state.delay) + late)
            for callback in batch { state.waiting.append((due, callback)) }
        }
        // Some come in the middle of a turn, which must not let time pass them by.
        if let next { ready.value.horizon = min(ready.value.horizon, next) }
    }

    /// How much longer the next batch has to wait, in nanoseconds.
    private var lateness: Int {
        let faults = faults.value
        if faults.strikes(.queueVerySlow) { return faults.delay(.queueVerySlow, milliseconds: 1000...30_000) }
        return faults.strikes(.queueSlow) ? faults.delay(.queueSlow, milliseconds: 0...50) : 0
    }

    package var count: Int { state.withLock { $0.waiting.count - $0.first } }

    /// When the next callback can run.
    package var next: LoopInstant? {
        state.withLock { state in
            guard state.first < state.waiting.count, !state.isStopped else { return nil }
            return max(state.waiting[state.first].due, state.freeAt)
        }
    }

    package func runNext() {
        let callback = state.withLock { state in
            defer {
                state.first += 1
                if state.first == state.waiting.count {
                    state.waiting = []
                    state.first = 0
                }
            }
            return state.waiting[state.first].callback
        }
        callback.run()
        let faults = faults.value
        if faults.strikes(.queueBusy) { sleep(for: .nanoseconds(faults.delay(.queueBusy, milliseconds: 1...100))) }
    }
}
