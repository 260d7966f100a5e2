import Dispatch
public import Foundation

extension Notification.Name {
    /// A ``URLConnectionOperation`` has begun, or goes on after a pause. The object is the operation.
    ///
    /// Posted on the main queue.
    public static let networkingOperationDidStart = Notification.Name("com.alamofire.networking.operation.start")

    /// A ``URLConnectionOperation`` that had begun has finished, or was paused. The object is the operation.
    ///
    /// Posted on the main queue, once for each ``networkingOperationDidStart``.
    public static let networkingOperationDidFinish = Notification.Name("com.alamofire.networking.operation.finish")
}
