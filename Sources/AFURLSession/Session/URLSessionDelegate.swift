public import Foundation

/// Hears about a session. Every method has an implementation that does nothing.
///
/// Called on the session's delegate queue. The session holds its delegate strongly
/// until it has become invalid.
public protocol URLSessionDelegate: AnyObject, Sendable {
    /// The session will make no more callbacks. `error` is nil: an invalidation was
    /// asked for. The last call the delegate receives.
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)
}

/// Hears about the tasks of a session.
///
/// For each task, in this order and one at a time: upload progress, response, data
/// (data tasks), metrics, completion. Nothing follows the completion.
public protocol URLSessionTaskDelegate: URLSessionDelegate {
    /// The task has ended: without error if a response was received in full, whatever
    /// its status. Called exactly once, last.
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)

    /// More of the request body was handed to the network.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    )

    /// When each phase of the task happened. Called right before the completion.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didFinishCollecting metrics: URLSessionTaskMetrics
    )
}

/// Receives the responses of data tasks that have no completion handler.
public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    /// The head of the response has arrived. The task waits, and holds up its peer,
    /// until `completionHandler` is called: from any thread, once; further calls do
    /// nothing. The implementation provided answers `.allow`.
    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    )

    /// Part of the body. While this runs, at most 256 KiB more are read ahead.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
}

extension URLSessionDelegate {
    /// Does nothing.
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {}
}

extension URLSessionTaskDelegate {
    /// Does nothing.
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {}

    /// Does nothing.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {}

    /// Does nothing.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didFinishCollecting metrics: URLSessionTaskMetrics
    ) {}
}

extension URLSessionDataDelegate {
    /// Answers `.allow`.
    public func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        completionHandler(.allow)
    }

    /// Does nothing: the data is lost.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {}
}
