import AFNetworking
import Foundation

/// Follows the task, or the operation, whose state a view shows.
@MainActor public final class TaskFollowing {
    typealias Call = @MainActor @Sendable () -> Void

    private var observations: [NotificationObservation] = []
    /// Counts changes of what is followed.
    private var generation = 0

    /// For a new view.
    public nonisolated init() {}

    /// Stops following the former task, and follows a task until it has completed.
    func follow(_ task: URLSessionTask?, begin: @escaping Call, end: @escaping Call) {
        forget()
        guard let task, task.state != .completed else { return }
        if task.state == .running { begin() } else { end() }
        hear(.networkingTaskDidResume, of: task, call: begin)
        hear(.networkingTaskDidSuspend, of: task, call: end)
        hear(.networkingTaskDidComplete, of: task, call: end)
    }

    /// Stops following the former operation, and follows an operation until it has finished.
    func follow(_ operation: URLConnectionOperation, begin: @escaping Call, end: @escaping Call) {
        forget()
        guard !operation.isFinished else { return }
        if operation.isExecuting { begin() } else { end() }
        hear(.networkingOperationDidStart, of: operation, call: begin)
        hear(.networkingOperationDidFinish, of: operation, call: end)
    }

    private func forget() {
        observations = []
        generation += 1
    }

    private func hear(_ name: Notification.Name, of object: any AnyObject & Sendable, call: @escaping Call) {
        let generation = generation
        let observation = NotificationObservation(of: name, object: object) { [weak self] _ in
            MainQueue.onMainActor {
                // A notification of the former task or operation may arrive late.
                if self?.generation == generation { call() }
            }
        }
        observations.append(observation)
    }
}
