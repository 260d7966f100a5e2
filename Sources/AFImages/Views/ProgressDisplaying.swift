public import AFNetworking

/// A view that shows how much of something is done.
@MainActor public protocol ProgressDisplaying: AnyObject {
    /// Shows a progress from 0 to 1, moving there if it is to be animated.
    func setProgress(_ progress: Float, animated: Bool)

    /// Keeps what the view follows: a constant, made with the view.
    var progressFollowing: ProgressFollowing { get }
}

extension ProgressDisplaying {
    /// Shows how much of its body a task has sent, until it has completed.
    ///
    /// Shows nothing while the total is unknown. Stops following the former task in this direction.
    ///
    /// - Parameters:
    ///   - task: A task of a ``/AFNetworking/URLSessionManager``; one that has completed is not followed.
    ///   - animated: Whether the view moves from one progress to the next.
    public func setProgressWithUploadProgress(of task: URLSessionUploadTask, animated: Bool) {
        follow(task, direction: \.upload, animated: animated) { $0.fractionSent }
    }

    /// Shows how much of the response's body has arrived, until the task has completed.
    ///
    /// Shows nothing while the total is unknown. Stops following the former task in this direction.
    ///
    /// - Parameters:
    ///   - task: A task of a ``/AFNetworking/URLSessionManager``; one that has completed is not followed.
    ///   - animated: Whether the view moves from one progress to the next.
    public func setProgressWithDownloadProgress(of task: URLSessionTask, animated: Bool) {
        follow(task, direction: \.download, animated: animated) { $0.fractionReceived }
    }

    private func follow(
        _ task: URLSessionTask,
        direction: ReferenceWritableKeyPath<ProgressFollowing, Task<Void, Never>?>,
        animated: Bool,
        fraction: @escaping @Sendable (TransferProgress) -> Double?
    ) {
        guard task.state != .completed, let manager = task.session.delegate as? URLSessionManager else { return }
        let steps = manager.progressSteps(of: task)
        progressFollowing[keyPath: direction]?.cancel()
        progressFollowing[keyPath: direction] = Task { @MainActor [weak self] in
            for await step in steps {
                guard !Task.isCancelled, let self else { return }
                if let fraction = fraction(step) { setProgress(Float(fraction), animated: animated) }
            }
        }
    }

    // MARK: - Operations

    /// Shows how much of its body an operation has sent. Its own progress block is called as before.
    public func setProgressWithUploadProgress(of operation: URLConnectionOperation, animated: Bool) {
        let block = operation.uploadProgressBlock
        operation.setUploadProgressBlock(shown(animated, after: block))
    }

    /// Shows how much of the response's body has arrived. The operation's own progress block is called as before.
    public func setProgressWithDownloadProgress(of operation: URLConnectionOperation, animated: Bool) {
        let block = operation.downloadProgressBlock
        operation.setDownloadProgressBlock(shown(animated, after: block))
    }

    /// A progress block that calls another one first.
    private func shown(
        _ animated: Bool,
        after block: URLConnectionOperation.ProgressBlock?
    ) -> URLConnectionOperation.ProgressBlock {
        let show: @MainActor @Sendable (Float) -> Void = { [weak self] progress in
            self?.setProgress(progress, animated: animated)
        }
        return { count, total, expected in
            block?(count, total, expected)
            guard expected > 0 else { return }
            let progress = min(Float(total) / Float(expected), 1)
            MainQueue.onMainActor { show(progress) }
        }
    }
}

/// Follows the tasks whose progress a view shows.
@MainActor public final class ProgressFollowing {
    var upload: Task<Void, Never>?
    var download: Task<Void, Never>?

    /// For a new view.
    public nonisolated init() {}

    deinit {
        upload?.cancel()
        download?.cancel()
    }
}
