import AFNetworking
import Foundation

/// Observes tasks and operations that begin and end.
final class ActivityNotifications: Sendable {
    enum News: Sendable {
        case taskRuns(URLSessionTask)
        case taskRests(URLSessionTask)
        case operationRuns(URLConnectionOperation)
        case operationRests(URLConnectionOperation)
    }

    private static let names: [Notification.Name] = [
        .networkingTaskDidResume, .networkingTaskDidSuspend, .networkingTaskDidComplete, .networkingOperationDidStart,
        .networkingOperationDidFinish,
    ]

    private let observations: [NotificationObservation]

    init(center: NotificationCenter, tell: @escaping @Sendable (News) -> Void) {
        observations = Self.names.map { name in
            NotificationObservation(of: name, in: center) { notification in
                if let news = Self.news(notification) { tell(news) }
            }
        }
    }

    /// Nil for a task or an operation without a URL.
    private static func news(_ notification: Notification) -> News? {
        switch notification.object {
        case let task as URLSessionTask:
            guard task.originalRequest?.url != nil else { return nil }
            return notification.name == .networkingTaskDidResume ? .taskRuns(task) : .taskRests(task)
        case let operation as URLConnectionOperation:
            guard operation.request.url != nil else { return nil }
            return notification.name == .networkingOperationDidStart
                ? .operationRuns(operation) : .operationRests(operation)
        default: return nil
        }
    }
}
