public import Foundation

/// Whom a ``URLProtocol`` tells what becomes of its load.
///
/// The client of a session may be called from any thread, and by several at once; what is said is taken in the order in
/// which it is said. After the end, a failure, a redirect or ``URLProtocol/stopLoading()`` it listens to nothing more.
///
/// It never waits. What the owner of the task is not ready for is kept: at most as many bytes as
/// ``URLSessionConfiguration/maximumBodyInMemory`` says, and more fail the load. What is longer than memory is no work
/// for a class.
public protocol URLProtocolClient: NSObjectProtocol, Sendable {
    /// Load another request in the place of this one. The load is over with it: the class of the other request, or the
    /// session, goes on. The task's delegate is asked as it is about redirects of servers, if the response is one of
    /// HTTP; without its consent `redirectResponse` is the task's response, and has no body.
    func urlProtocol(_ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse)

    /// The cached response is the answer. The load is over with it.
    func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse)

    /// The response; its body follows. Only the first counts. Data that comes without one gets one that knows its URL
    /// only.
    ///
    /// - Parameters:
    ///   - protocol: Who loads.
    ///   - response: What has come.
    ///   - policy: Where the response may be stored, if it could be stored by the rules of HTTP, and the task's
    ///     delegate does not mind.
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
    /// default handling if there is no delegate. The delegate's cancelling cancels the task as well.
    func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge)

    /// An answer to the challenge is wanted no longer.
    func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge)
}
