import AFLoop
import Dispatch

/// Runs what waits for the disk, away from the loop.
package protocol DiskExecutor: Sendable {
    func run(_ job: @escaping @Sendable () -> Void)
}

/// The system's pool of threads. One hanging disk keeps one of them, not all.
struct DiskQueue: DiskExecutor {
    private static let queue = DispatchQueue(label: "AFURLSession.files", attributes: .concurrent)

    func run(_ job: @escaping @Sendable () -> Void) {
        DiskQueue.queue.async(execute: job)
    }
}

/// The jobs for one file: in order, one at a time.
final class DiskLane: Sendable {
    typealias Job = @Sendable () -> Void

    private struct State {
        var waiting: [Job] = []
        var isRunning = false
    }

    private let executor: any DiskExecutor
    private let state = Lock(State())

    init(_ executor: any DiskExecutor) {
        self.executor = executor
    }

    func run(_ job: @escaping Job) {
        let isIdle = state.withLock { state in
            state.waiting.append(job)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if isIdle { executor.run { self.drain() } }
    }

    private func drain() {
        while let jobs = take() {
            for job in jobs { job() }
        }
    }

    private func take() -> [Job]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isRunning = false
                return nil
            }
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}
