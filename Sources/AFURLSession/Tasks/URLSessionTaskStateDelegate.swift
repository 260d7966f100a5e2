/// Hears at once when tasks of its session are resumed and suspended.
///
/// Works only as the delegate of a session. The session calls it on the thread that calls `resume()` or `suspend()`,
/// before that returns, and only if the call changes something.
@preconcurrency
public protocol URLSessionTaskStateDelegate: URLSessionDelegate {
    /// The task runs, for the first time or again.
    func urlSession(_ session: URLSession, taskDidResume task: URLSessionTask)

    /// The task ran, or was about to, and now waits.
    func urlSession(_ session: URLSession, taskDidSuspend task: URLSessionTask)
}
