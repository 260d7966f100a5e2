import AFBase
import Foundation

extension Progress {
    /// Has this progress suspend a task when it is paused, and resume it.
    ///
    /// Foundation calls the handlers of a progress from several threads, in any order, and the one for pausing for each
    /// call of `pause()`. Suspensions of a task nest. So a handler reads what the progress says by then, and gives
    /// the task one suspension at most.
    ///
    /// - Parameter task: The task at the time of a call; nil once it is gone.
    package func suspends(_ task: @escaping @Sendable () -> URLSessionTask?) {
        let hasSuspended = Lock(isPaused)
        let follow = { @Sendable [weak self] (isResuming: Bool) in
            hasSuspended.withLock { hasSuspended in
                guard let self, let task = task() else { return }
                switch (self.isPaused, hasSuspended) {
                case (true, false):
                    hasSuspended = true
                    task.suspend()
                case (false, true):
                    hasSuspended = false
                    task.resume()
                // The task was made suspended, or the program has suspended it itself.
                case (false, false) where isResuming && task.state == .suspended: task.resume()
                default: break
                }
            }
        }
        pausingHandler = { follow(false) }
        resumingHandler = { follow(true) }
    }
}
