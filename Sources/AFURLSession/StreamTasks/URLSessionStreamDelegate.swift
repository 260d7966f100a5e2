public import Foundation

/// Hears about the stream tasks of a session.
@preconcurrency
public protocol URLSessionStreamDelegate: URLSessionTaskDelegate {
    /// The direction to us is closed: the peer has ended it and all was read, or ``URLSessionStreamTask/closeRead()``
    /// was called. The peer's end is found by who reads.
    func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask)

    /// The direction to the peer is closed, as ``URLSessionStreamTask/closeWrite()`` asked for.
    func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask)

    /// There is a better way to the host. Never called: nobody tells us.
    func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask)

    /// The connection has become streams, as ``URLSessionStreamTask/captureStreams()`` asked for. The task has completed
    /// with this. The streams are not open. They block the thread that uses them until there is something to do; the
    /// connection ends when both are closed or gone, and what was written has left. A peer that takes nothing of it for
    /// `timeoutIntervalForRequest` does not get the rest.
    func urlSession(
        _ session: URLSession,
        streamTask: URLSessionStreamTask,
        didBecome inputStream: InputStream,
        outputStream: OutputStream
    )
}

extension URLSessionStreamDelegate {
    /// Does nothing.
    public func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) {
        session.noteMissing(.closedReading, in: self)
    }

    /// Does nothing.
    public func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) {
        session.noteMissing(.closedWriting, in: self)
    }

    /// Does nothing.
    public func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask) {}

    /// Lets go of the streams, which ends the connection.
    public func urlSession(
        _ session: URLSession,
        streamTask: URLSessionStreamTask,
        didBecome inputStream: InputStream,
        outputStream: OutputStream
    ) {
        session.noteMissing(.becameStreams, in: self)
    }
}
