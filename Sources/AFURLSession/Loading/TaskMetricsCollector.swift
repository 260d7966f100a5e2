import AFBase
import AFLoop

/// A delegate that keeps the metrics of one task for the code that awaits it.
///
/// ```swift
/// let collector = TaskMetricsCollector()
/// let (data, response) = try await session.data(for: request, delegate: collector)
/// print(collector.metrics?.transactionMetrics.count ?? 0)
/// ```
///
/// They are there when the call returns or throws, whatever the delegate queue is doing. A collector of several tasks
/// has the metrics of the one that ended last. As the delegate of a task it takes the metrics in place of the session's
/// delegate, which gets all other calls.
public final class TaskMetricsCollector: URLSessionTaskDelegate {
    private let latest = Lock<URLSessionTaskMetrics?>(nil)

    /// Makes a collector without metrics.
    public init() {}

    /// The metrics; nil until the task has ended.
    public var metrics: URLSessionTaskMetrics? { latest.withLock { $0 } }

    /// Keeps the metrics.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        take(metrics)
    }

    func take(_ metrics: URLSessionTaskMetrics) {
        latest.withLock { $0 = metrics }
    }
}

extension URLSessionTask {
    /// Whether the task will have ``metrics`` when it has completed. False, unless the session's
    /// ``URLSessionConfiguration/keepsTaskMetrics`` says otherwise. Set it before you resume the task.
    ///
    /// A delegate with a method for metrics gets them either way.
    public var keepsMetrics: Bool {
        get { session.settings.monitoring.keepsMetrics || snapshot.withLock { $0.keepsMetrics } }
        set { snapshot.withLock { $0.keepsMetrics = newValue } }
    }

    /// Does what setting ``keepsMetrics`` and ``taskDescription`` does, under one lock.
    package func keepMetrics(describedAs description: String) {
        snapshot.withLock { snapshot in
            snapshot.keepsMetrics = true
            snapshot.description = description
        }
    }

    /// When each phase of the task happened: for a task that ``keepsMetrics``, from its completion on, and before its
    /// completion handler or delegate is called. Nil before, and if the task never ran.
    public var metrics: URLSessionTaskMetrics? { snapshot.withLock { $0.metrics } }
}
