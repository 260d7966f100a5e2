/// Runs Swift tasks as callbacks of the session, for tests whose world runs callbacks on the test's own thread.
package final class CallbackTaskExecutor: TaskExecutor {
    private let callbacks: any CallbackExecutor

    package init(_ callbacks: any CallbackExecutor) {
        self.callbacks = callbacks
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        callbacks.run([.block { job.runSynchronously(on: executor) }])
    }
}
