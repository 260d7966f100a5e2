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

    mutating func keepPost(over status: Int, isKept: Bool) {
        if isKept { keepsPost.insert(status) } else { keepsPost.remove(status) }
    }

    /// The next request, changed as these options say.
    ///
    /// - Parameters:
    ///   - former: The request that was redirected.
    ///   - original: The first request.
    ///   - stream: A new stream of the body, if the body is a stream.
    func adjust(
        _ next: URLRequest,
        after status: Int,
        to former: URLRequest?,
        madeFrom original: URLRequest?,
        stream: @autoclosure () -> InputStream? = nil
    ) -> URLRequest {
        var next = next
        var kept = isTrusting ? Self.secrets(of: original) : []
        // A body that one redirect has dropped does not come back with the next.
        if keepsPost.contains(status), former?.httpMethod == "POST" {
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

    /// The fields of the command line that the session leaves behind at another origin.
    private static func secrets(of request: URLRequest?) -> [String] {
        let own: Set<String> = ["host", "referer", "proxy-authorization"]
        return (request?.allHTTPHeaderFields ?? [:]).keys.filter {
            RedirectPolicy().withholds($0) && !own.contains($0.lowercased())
        }
    }
}
