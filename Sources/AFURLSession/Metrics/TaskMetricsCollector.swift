import AFBase
import AFLoop

/// Takes the metrics of one task, for those who await it.
///
/// ```swift
/// let collector = TaskMetricsCollector()
/// let (data, response) = try await session.data(for: request, delegate: collector)
/// print(collector.metrics?.transactionMetrics.count ?? 0)
/// ```
///
/// They are there when the call returns or throws, whatever the delegate queue is doing. Given to several tasks it has
/// those of the last that ended. As the delegate of a task it takes the metrics in place of the session's
/// delegate, to which all else goes.
public final class TaskMetricsCollector: URLSessionTaskDelegate {
    private let latest = Lock<URLSessionTaskMetrics?>(nil)

    /// Makes one that has none.
    public init() {}

    /// The metrics; nil until the task has ended.
    public var metrics: URLSessionTaskMetrics? { latest.withLock { $0 } }

    /// Takes metrics.
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
    /// ``URLSessionConfiguration/keepsTaskMetrics`` says otherwise. Set it before the task is resumed.
    ///
    /// A delegate with a method for them gets metrics whatever this says.
    public var keepsMetrics: Bool {
        get { session.settings.seeing.keepsMetrics || snapshot.withLock { $0.keepsMetrics } }
        set { snapshot.withLock { $0.keepsMetrics = newValue } }
    }

    /// When each phase of the task happened: for a task that ``keepsMetrics``, from its completion on, and before its
    /// completion handler or delegate is called. Nil before, and if the task never ran.
    public var metrics: URLSessionTaskMetrics? { snapshot.withLock { $0.metrics } }
}
