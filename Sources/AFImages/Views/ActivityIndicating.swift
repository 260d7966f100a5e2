public import AFNetworking
import Foundation

/// A view that animates while a task or an operation runs.
///
/// ```swift
/// final class Spinner: Widget, ActivityIndicating {
///     let taskFollowing = TaskFollowing()
///     func startAnimating() { isTurning = true }
///     func stopAnimating() { isTurning = false }
/// }
///
/// spinner.setAnimatingWithState(of: task)
/// ```
@MainActor public protocol ActivityIndicating: AnyObject {
    /// Starts the animation. May be called while it runs.
    func startAnimating()

    /// Stops the animation.
    func stopAnimating()

    /// Keeps what the view follows: a constant, made with the view.
    var taskFollowing: TaskFollowing { get }
}

extension ActivityIndicating {
    /// Animates while a task runs, until it has completed. Stops following the former task or operation.
    ///
    /// - Parameter task: A task of a ``/AFNetworking/URLSessionManager``; a completed one is not followed. With nil the
    ///   view only stops following the former one.
    public func setAnimatingWithState(of task: URLSessionTask?) {
        taskFollowing.follow(task) { [weak self] in
            self?.startAnimating()
        } end: { [weak self] in
            self?.stopAnimating()
        }
    }

    /// Animates while an operation executes, until it has finished. Stops following the former task or operation.
    public func setAnimatingWithState(of operation: URLConnectionOperation) {
        taskFollowing.follow(operation) { [weak self] in
            self?.startAnimating()
        } end: { [weak self] in
            self?.stopAnimating()
        }
    }
}

/// A control that shows that its content is being loaded again.
@MainActor public protocol Refreshing: AnyObject {
    /// Shows that the content is loading. May be called while it is shown.
    func beginRefreshing()

    /// Hides it.
    func endRefreshing()

    /// Keeps what the control follows: a constant, made with the control.
    var taskFollowing: TaskFollowing { get }
}

extension Refreshing {
    /// Refreshes while a task runs, until it has completed. Stops following the former task or operation.
    ///
    /// Unlike AFNetworking, it also follows a task that has not been resumed yet.
    ///
    /// - Parameter task: A task of a ``/AFNetworking/URLSessionManager``; with one that has completed, or nil,
    ///   refreshing ends.
    public func setRefreshingWithState(of task: URLSessionTask?) {
        if task == nil || task?.state == .completed { endRefreshing() }
        taskFollowing.follow(task) { [weak self] in
            self?.beginRefreshing()
        } end: { [weak self] in
            self?.endRefreshing()
        }
    }

    /// Refreshes while an operation executes, until it has finished. Stops following the former task or operation.
    public func setRefreshingWithState(of operation: URLConnectionOperation) {
        if operation.isFinished { endRefreshing() }
        taskFollowing.follow(operation) { [weak self] in
            self?.beginRefreshing()
        } end: { [weak self] in
            self?.endRefreshing()
        }
    }
}

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

    private func hear(_ name: Notification.Name, of object: AnyObject, call: @escaping Call) {
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
