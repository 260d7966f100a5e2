import Foundation

/// Hears how a stream of events fares, in order, on the delegate queue of its session. The stream goes on when a method
/// has returned.
///
/// Hand it to ``URLSession/events(for:options:delegate:)``, or make the delegate of the session one. Every
/// iteration of the stream is told by itself. A program that releases its iterator hears nothing more.
public protocol EventStreamDelegate: URLSessionTaskDelegate {
    /// The stream is open, for the first time or again: events will follow.
    func eventStream(_ stream: EventStream, didOpen response: URLResponse)

    /// A comment has arrived, in its place among the events. Servers send comments so that a stream without events is not
    /// taken for dead.
    ///
    /// - Parameters:
    ///   - stream: The stream.
    ///   - comment: The text of the line behind its colon, and behind a blank there.
    func eventStream(_ stream: EventStream, didReceiveComment comment: String)

    /// The stream has ended, broken, or could not be opened, and will connect again after a wait.
    ///
    /// - Parameters:
    ///   - stream: The stream that was lost.
    ///   - wait: The time until the attempt.
    ///   - attempt: The number of the attempt to come: 1 after a response that brought an event.
    ///   - error: Why; nil if the server has ended the response in order. A response that the stream does not take is
    ///   its `URLError.refusedResponse`.
    func eventStream(
        _ stream: EventStream,
        willReconnectAfter wait: Duration,
        attempt: Int,
        because error: (any Error)?
    )

    /// The stream will not connect again. The last call.
    ///
    /// - Parameters:
    ///   - stream: The stream that has ended.
    ///   - error: What the iteration throws; nil if the server has ended the stream.
    func eventStream(_ stream: EventStream, didEndWith error: (any Error)?)
}

extension EventStreamDelegate {
    /// Does nothing.
    public func eventStream(_ stream: EventStream, didOpen response: URLResponse) {}

    /// Does nothing.
    public func eventStream(_ stream: EventStream, didReceiveComment comment: String) {}

    /// Does nothing.
    public func eventStream(
        _ stream: EventStream,
        willReconnectAfter wait: Duration,
        attempt: Int,
        because error: (any Error)?
    ) {}

    /// Does nothing.
    public func eventStream(_ stream: EventStream, didEndWith error: (any Error)?) {}
}
