import AFNetworking
import Foundation

/// The metrics of all tasks, as the session tells them.
final class Journal: @unchecked Sendable {
    private let lock = NSLock()
    private var metrics: [URLSessionTaskMetrics] = []

    func watch(_ manager: URLSessionManager) {
        manager.setTaskDidFinishCollectingMetricsBlock { [self] _, _, metrics in
            lock.withLock { self.metrics.append(metrics) }
        }
    }

    var count: Int { lock.withLock { metrics.count } }

    /// Of the task that has ended last.
    var last: URLSessionTaskTransactionMetrics? { transactions.last }

    var remoteAddresses: Set<String> { Set(transactions.compactMap(\.remoteAddress)) }

    private var transactions: [URLSessionTaskTransactionMetrics] {
        lock.withLock { metrics.flatMap(\.transactionMetrics) }
    }
}
