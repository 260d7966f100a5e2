import AFTransport
import AFWire
public import Foundation

// Unchecked as its superclass: it has only constants and what is bound to the loop.
/// A connection that carries any protocol you speak, in both directions.
///
/// ```swift
/// let task = session.streamTask(withHostName: "mail.example.com", port: 25)
/// task.resume()
/// let (greeting, _) = try await task.readData(ofMinLength: 1, maxLength: 512, timeout: 30)
/// ```
///
/// The task does its operations in order: reads one after the other, writes one after the other, both side by side.
/// ``startSecureConnection()`` and ``captureStreams()`` wait until all operations before them are done, and all
/// operations after them wait for these. You may call all methods before you resume the task. The session calls each
/// handler once, on the delegate queue, before the completion of the task.
///
/// The task reads only what you ask for; a peer that sends more has to wait. It connects as requests do: it tries all
/// addresses of the name, and asks proxies of the session for a tunnel. It has a connection of its own, which counts
/// towards no limit.
///
/// The task completes when both directions are closed: by their ends, by ``closeRead()`` and ``closeWrite()``, or by a
/// read or write that failed; when you cancel it; or when the connection breaks. Connecting and the TLS handshake may
/// each take as long as `timeoutIntervalForRequest` says, and the whole task as long as `timeoutIntervalForResource`
/// says. A connection without operations otherwise stays open for ever. While the task is suspended, it reads and
/// writes nothing, and its times stand still.
public final class URLSessionStreamTask: URLSessionTask, @unchecked Sendable {
    init(
        _ request: Result<WireRequest, RequestRejection>,
        identifier: Int,
        in session: URLSession,
        consumer: sending any TaskConsumer
    ) {
        super.init(streamTo: request, identifier: identifier, in: session, consumer: consumer)
    }

    /// Makes a task that takes the place of a data task.
    override init(continuing other: URLSessionTask, identifier: Int) {
        super.init(continuing: other, identifier: identifier)
    }
}

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
