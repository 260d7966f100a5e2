import AFURLSession
import Foundation

/// The options about redirects.
package struct RedirectOptions: Sendable, Equatable {
    package var isFollowing = false
    /// Whether credentials and cookies of the command line are sent to other origins.
    package var isTrusting = false
    package var maximum = 50
    /// The statuses that keep POST.
    package var keepsPost: Set<Int> = []

    /// The next request, changed as these options say.
    ///
    /// - Parameters:
    ///   - original: The first request.
    ///   - stream: A new stream of the body, if the body is a stream.
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
