import AFBase

/// Keeps callbacks in order on a concurrent queue.
final class SerialLane: Sendable {
    private struct State {
        var waiting: [Callback] = []
        var isDraining = false
    }

    private let state = Lock(State())

    /// True if the caller has to call `drain`.
    func add(_ batch: [Callback]) -> Bool {
        state.withLock { state in
            state.waiting += batch
            defer { state.isDraining = true }
            return !state.isDraining
        }
    }

    func drain() {
        while let batch = take() {
            CallbackBatch(batch).run()
        }
    }

    private func take() -> [Callback]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isDraining = false
                return nil
            }
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}
