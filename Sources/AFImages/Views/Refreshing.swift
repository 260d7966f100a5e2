public import AFNetworking

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
