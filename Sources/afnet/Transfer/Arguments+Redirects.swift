import AFURLSession
import Foundation

extension Arguments {
    /// The request that a redirect leads to, as the options say. Nil if they do not allow its scheme.
    ///
    /// - Parameters:
    ///   - next: The request that the session would send.
    ///   - stream: A new stream of the body, if the body is a stream.
    func redirected(
        _ next: URLRequest,
        by response: HTTPURLResponse,
        of task: URLSessionTask,
        as identity: Identity,
        stream: @autoclosure () -> InputStream? = nil
    ) -> URLRequest? {
        guard schemes.allowsRedirect(to: next.url?.scheme) else { return nil }
        var next = redirects.adjust(
            next,
            after: response.statusCode,
            to: task.currentRequest,
            madeFrom: task.originalRequest,
            stream: stream()
        )
        if let method {
            // As in curl, the method of the command line is that of all requests, and fields are sent once.
            next.httpMethod = method
            if dropsBody(over: response.statusCode) {
                (next.httpBody, next.httpBodyStream) = (nil, nil)
                for name in ["Content-Type", "Content-Length"] { next.setValue(nil, forHTTPHeaderField: name) }
            }
        }
        if next.value(forHTTPHeaderField: "Authorization") == nil,
            let authorization = identity.authorization(for: next.url)
        {
            next.setValue(authorization, forHTTPHeaderField: "Authorization")
        }
        if keepsDots, let place = response.value(forHTTPHeaderField: "Location"), let target = next.url {
            next.url = URLText.keepingDots(of: place, from: response.url, in: target)
        }
        if refersToRedirects, let source = response.url, let target = next.url {
            next.setValue(RedirectPolicy.referer(from: source, to: target), forHTTPHeaderField: "Referer")
        }
        return next
    }
}
