import Dispatch
public import Foundation

extension NSNotification.Name {
    /// Cookies of an ``HTTPCookieStorage`` were stored, removed or have ended. Several changes may be told at once. The
    /// object is the storage. Posted on a queue of the library's own.
    public static let NSHTTPCookieManagerCookiesChanged = NSNotification.Name(
        "NSHTTPCookieManagerCookiesChangedNotification"
    )
    /// The accept policy of an ``HTTPCookieStorage``, the object, has changed. Posted on a queue of the library's own.
    public static let NSHTTPCookieManagerAcceptPolicyChanged =
        NSNotification.Name("NSHTTPCookieManagerAcceptPolicyChangedNotification")
}

enum CookieNotifications {
    /// Observers are the user's code: they run neither on the network thread nor under a lock.
    static let queue = DispatchQueue(label: "AFURLSession.cookies.changed")
}
