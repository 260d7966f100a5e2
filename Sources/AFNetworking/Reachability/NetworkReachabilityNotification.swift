public import Foundation

extension Notification.Name {
    /// What a ``NetworkReachabilityManager`` watches has another status, or it has begun to watch. The object is the
    /// manager; the user info has the status under ``NetworkingReachabilityNotificationStatusItem``. Posted on the
    /// manager's ``NetworkReachabilityManager/callbackQueue``.
    public static let networkingReachabilityDidChange = Notification.Name(
        "com.alamofire.networking.reachability.change"
    )
}

/// The key of the status, a number as in `NetworkReachabilityStatus.rawValue`, in the user info of
/// `Notification.Name.networkingReachabilityDidChange`.
public let NetworkingReachabilityNotificationStatusItem = "AFNetworkingReachabilityNotificationStatusItem"
