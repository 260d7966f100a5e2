public import Foundation

/// Hears about the stream tasks of a session.
@preconcurrency
public protocol URLSessionStreamDelegate: URLSessionTaskDelegate {
    /// No more bytes will come: the peer has ended its direction and you have read everything, or you called
    /// ``URLSessionStreamTask/closeRead()``. The task notices the peer's end only while you read.
    func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask)

    /// The direction to the peer is closed, as ``URLSessionStreamTask/closeWrite()`` asked for.
    func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask)

    /// There is a better route to the host. Never called: the session does not look for one.
    func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask)

    /// The connection has become streams, as ``URLSessionStreamTask/captureStreams()`` asked for. With this call the
    /// task has completed. The streams are not open. They block the thread that uses them until there are bytes or
    /// room. The connection ends when you have closed or released both, and what you wrote has left. A peer that
    /// accepts none of it for `timeoutIntervalForRequest` does not get the rest.
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

    /// Releases the streams, which ends the connection.
    public func urlSession(
        _ session: URLSession,
        streamTask: URLSessionStreamTask,
        didBecome inputStream: InputStream,
        outputStream: OutputStream
    ) {
        session.noteMissing(.becameStreams, in: self)
    }
}
