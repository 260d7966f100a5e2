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
    /// - Parameters:
    ///   - original: what was asked for in the beginning.
    ///   - stream: the body from its beginning, if it is one that has to be made anew.
    func adjust(
        _ next: URLRequest,
        after status: Int,
        to original: URLRequest?,
        _ stream: @autoclosure () -> InputStream? = nil
    ) -> URLRequest {
        var next = next
        var kept: [String] = isTrusting ? ["Authorization", "Cookie"] : []
        if keepsPost.contains(status), original?.httpMethod == "POST" {
            next.httpMethod = "POST"
            kept.append("Content-Type")
            if let stream = stream() {
                next.httpBodyStream = stream
                kept.append("Content-Length")
            } else {
                next.httpBody = original?.httpBody
            }
        }
        for name in kept where next.value(forHTTPHeaderField: name) == nil {
            next.setValue(original?.value(forHTTPHeaderField: name), forHTTPHeaderField: name)
        }
        return next
    }
}
