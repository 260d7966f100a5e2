import Foundation
import Synchronization

/// What managers and operations post for each request.
///
/// The two of a request cost a third of it, and most programs observe none. So nothing is posted until the
/// program has read the name of one: before that it has no observer, unless one of a literal, or of all names.
enum RequestNotification: String {
    case taskDidResume = "com.alamofire.networking.task.resume"
    case taskDidSuspend = "com.alamofire.networking.task.suspend"
    case taskDidComplete = "com.alamofire.networking.task.complete"
    case operationDidStart = "com.alamofire.networking.operation.start"
    case operationDidFinish = "com.alamofire.networking.operation.finish"

    private static let isNameKnown = Atomic(false)

    /// Whether the program may observe them.
    static var mayBeHeard: Bool { isNameKnown.load(ordering: .acquiring) }

    /// The name for the program, which may observe it from now on.
    var nameForObservers: Notification.Name {
        RequestNotification.isNameKnown.store(true, ordering: .releasing)
        return Notification.Name(rawValue)
    }

    /// Posts it if it may be heard, as ``NotificationPoster/post(_:object:details:onMainQueue:)`` does.
    func post(object: AnyObject, details: (any NotificationDetails)? = nil, onMainQueue: Bool = false) {
        guard RequestNotification.mayBeHeard else { return }
        NotificationPoster.main.post(
            Notification.Name(rawValue),
            object: object,
            details: details,
            onMainQueue: onMainQueue
        )
    }
}
