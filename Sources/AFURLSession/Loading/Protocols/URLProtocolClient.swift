public import Foundation

/// Takes what a ``URLProtocol`` reports about its load.
///
/// You may call the client of a session from any thread, and from several at once; the session takes the calls in their
/// order. After the end, a failure, a redirect or ``URLProtocol/stopLoading()`` it ignores them.
///
/// It never waits. It keeps what the owner of the task is not ready for: at most
/// ``URLSessionConfiguration/maximumBodyInMemory`` bytes. More than that fail the load, so do not load through a class
/// what is longer than memory.
public protocol URLProtocolClient: NSObjectProtocol, Sendable {
    /// Load another request in place of this one, which ends this load: the class of the other request, or the session,
    /// goes on. If the response is one of HTTP, the session asks the task's delegate as it does about redirects of
    /// servers. If the delegate declines, `redirectResponse` is the task's response, and has no body.
    ///
    /// Report it before any response. The session can drop an earlier response that it collects for a completion
    /// handler or in a file, but fails the task whose delegate or reader has begun to get one.
    func urlProtocol(_ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse)

    /// The cached response is the task's response. This ends the load.
    func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse)

    /// The response; its body follows. Only the first response counts. Data without one gets a response that has
    /// nothing but the URL.
    ///
    /// - Parameters:
    ///   - protocol: The object that loads.
    ///   - response: The response.
    ///   - policy: Where the session may store the response, if the rules of HTTP allow it, and the task's delegate
    ///   does not object.
    func urlProtocol(
        _ protocol: URLProtocol,
        didReceive response: URLResponse,
        cacheStoragePolicy policy: URLCache.StoragePolicy
    )

    /// A piece of the body.
    func urlProtocol(_ protocol: URLProtocol, didLoad data: Data)

    /// The body is complete.
    func urlProtocolDidFinishLoading(_ protocol: URLProtocol)

    /// The load has failed. The task fails with this very error.
    func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error)

    /// Ask the task's delegate. The sender of the challenge gets the answer, on the queue of the session's classes:
    /// default handling if there is no delegate. If the delegate cancels the challenge, the task is cancelled as well.
    func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge)

    /// The object no longer wants an answer to the challenge.
    func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge)
}
