public import AFNetworking

/// A view that turns while something is under way.
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
    /// Begins to turn. Called again while it does.
    func startAnimating()

    /// Stops.
    func stopAnimating()

    /// What it follows: a constant, made with the view.
    var taskFollowing: TaskFollowing { get }
}

extension ActivityIndicating {
    /// Turns while a task runs, from now on until it has completed. What was followed before is forgotten.
    ///
    /// - Parameter task: A task of a ``/AFNetworking/URLSessionManager``; of one that has completed nothing is shown.
    ///   With nil only the former one is forgotten.
    public func setAnimatingWithState(of task: URLSessionTask?) {
        taskFollowing.follow(task) { [weak self] in
            self?.startAnimating()
        } end: { [weak self] in
            self?.stopAnimating()
        }
    }

    /// Turns while an operation executes, from now on until it has finished. What was followed before is forgotten.
    public func setAnimatingWithState(of operation: URLConnectionOperation) {
        taskFollowing.follow(operation) { [weak self] in
            self?.startAnimating()
        } end: { [weak self] in
            self?.stopAnimating()
        }
    }
}

/// A control that shows that what is seen is being loaded again.
@MainActor public protocol Refreshing: AnyObject {
    /// Shows it. Called again while it does.
    func beginRefreshing()

    /// Shows it no more.
    func endRefreshing()

    /// What it follows: a constant, made with the control.
    var taskFollowing: TaskFollowing { get }
}

extension Refreshing {
    /// Refreshes while a task runs, from now on until it has completed. What was followed before is forgotten.
    ///
    /// A task that has not been resumed yet is followed, too, which AFNetworking did not do.
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

    /// Refreshes while an operation executes, from now on until it has finished. What was followed before is forgotten.
    public func setRefreshingWithState(of operation: URLConnectionOperation) {
        if operation.isFinished { endRefreshing() }
        taskFollowing.follow(operation) { [weak self] in
            self?.beginRefreshing()
        } end: { [weak self] in
            self?.endRefreshing()
        }
    }
}
