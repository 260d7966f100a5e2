import Dispatch
public import Foundation

extension NSNotification.Name {
    /// Cookies of an ``HTTPCookieStorage`` were stored, removed or have ended. One notification may stand for several
    /// changes. The object is the storage. Posted on a queue of the library's own.
    public static let NSHTTPCookieManagerCookiesChanged = NSNotification.Name(
        "NSHTTPCookieManagerCookiesChangedNotification"
    )
    /// The accept policy of an ``HTTPCookieStorage``, the object, has changed. Posted on a queue of the library's own.
    public static let NSHTTPCookieManagerAcceptPolicyChanged =
        NSNotification.Name("NSHTTPCookieManagerAcceptPolicyChangedNotification")
}

enum CookieNotifications {
    /// Observers are code of the program: they run neither on the network thread nor under a lock.
    static let queue = DispatchQueue(label: "AFURLSession.cookies.changed")
}
