import AFBase

/// Makes Swift tasks with the task-local values of the code that resumed a `URLSessionTask`, as those of a tracer.
///
/// Swift copies these values into a task that is made where they are set, and at no other time. So the context makes one
/// there, which waits, and which makes the others.
final class CallerContext: Sendable {
    private let orders: AsyncStream<@Sendable () -> Void>.Continuation
    private let executor: (any TaskExecutor)?

    /// Takes the values of the calling code.
    init(preferring executor: (any TaskExecutor)?) {
        let (stream, orders) = AsyncStream.makeStream(of: (@Sendable () -> Void).self)
        (self.orders, self.executor) = (orders, executor)
        Task(executorPreference: executor) {
            for await order in stream { order() }
        }
    }

    deinit {
        orders.finish()
    }

    /// Starts a task with the caller's values.
    func start(_ work: @escaping @Sendable () async -> Void) -> Job {
        let job = Job()
        orders.yield { [executor] in
            job.begin { Task(executorPreference: executor) { await work() } }
        }
        return job
    }

    /// A task that may not have begun.
    final class Job: Sendable {
        private enum State {
            case waiting
            case running(Task<Void, Never>)
            case cancelled
        }

        private let state = Lock(State.waiting)

        fileprivate func begin(_ make: () -> Task<Void, Never>) {
            state.withLock { state in
                if case .waiting = state { state = .running(make()) }
            }
        }

        func cancel() {
            let running = state.withLock { state -> Task<Void, Never>? in
                defer { state = .cancelled }
                if case .running(let task) = state { return task }
                return nil
            }
            running?.cancel()
        }
    }
}
