import AFLoop

/// Runs Swift tasks on the network thread.
///
/// A Swift task that loads many small resources spends more on passing each response to another thread than on the
/// request. With this executor it resumes on the thread that has the response:
///
/// ```swift
/// try await withTaskExecutorPreference(URLSession.networkExecutor) {
///     for url in urls { try await handle(session.data(from: url)) }
/// }
/// ```
///
/// Code that runs here must be short between two suspensions and must never block: meanwhile no session of the process
/// makes progress, and waiting for a session here is waiting for ever. Leave anything that takes time to the default
/// executor. In the child of a `fork`, which has no network thread, nothing runs here.
public final class NetworkExecutor: TaskExecutor {
    private let world: World

    init(_ world: World) {
        self.world = world
    }

    /// Runs `job` in one of the next turns of the network thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        world.enqueue { job.runSynchronously(on: executor) }
    }
}

extension URLSession {
    /// Runs Swift tasks on the network thread.
    public static let networkExecutor = NetworkExecutor(.system)
}
