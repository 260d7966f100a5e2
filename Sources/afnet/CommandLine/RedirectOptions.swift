import AFURLSession
import Foundation

/// The options about redirects.
package struct RedirectOptions: Sendable, Equatable {
    package var isFollowing = false
    /// Credentials and cookies given by hand go along to other origins.
    package var isTrusting = false
    package var maximum = 50
    /// Statuses over which a POST stays one.
    package var keepsPost: Set<Int> = []

    /// The next request, as these options want it.
    ///
    /// - Parameter original: what was asked for in the beginning.
    func adjust(_ next: URLRequest, after status: Int, to original: URLRequest?) -> URLRequest {
        var next = next
        var kept: [String] = isTrusting ? ["Authorization", "Cookie"] : []
        if keepsPost.contains(status), original?.httpMethod == "POST" {
            next.httpMethod = "POST"
            next.httpBody = original?.httpBody
            kept.append("Content-Type")
        }
        for name in kept where next.value(forHTTPHeaderField: name) == nil {
            next.setValue(original?.value(forHTTPHeaderField: name), forHTTPHeaderField: name)
        }
        return next
    }
}

/// What becomes of a status of 400 or above.
package enum StatusFailure: Sendable {
    case dropsBody
    case keepsBody
}
