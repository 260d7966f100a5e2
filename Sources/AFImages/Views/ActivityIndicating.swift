public import AFNetworking

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
