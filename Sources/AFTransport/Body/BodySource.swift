package import AFLoop
package import AFWire

/// Where the body of a request comes from, while it is sent: memory, a file, a stream.
///
/// Confined to the loop, which it never blocks: a source that has nothing yet answers `waiting`, and tells its client
/// when it has something. A source serves one exchange at a time, and several in turn if it can begin again: after a
/// retry, a redirect, a challenge.
package protocol BodySource: AnyObject {
    /// The source tells it once after each `waiting`, in a later turn.
    var client: (any BodyClient)? { get set }

    /// What the connection can send next. Asking makes the source get more.
    func next() -> BodyStep

    /// Hands out what is ready, in place.
    func withReady(_ take: (UnsafeRawBufferPointer) -> ChannelWrite) -> ChannelWrite

    /// The channel has taken `count` of the ready bytes.
    func consume(_ count: Int)

    /// How much of the content, as its owner gave it, has left with the bytes that the channel has taken. Nil: so many
    /// bytes, since the content has no coding.
    var contentSent: Int64? { get }

    /// False if `rewind` is sure to fail.
    var mayReplay: Bool { get }

    /// Goes back to the first byte, and calls back once: at once, or when the delegate has been asked for a stream. The
    /// bytes are the same as before, or sending them fails.
    func rewind(_ done: @escaping (BodyFailure?) -> Void)

    /// Releases everything. Idempotent; the source calls nothing back afterwards.
    func close()
}

extension BodySource {
    package var contentSent: Int64? { nil }
}

package enum BodyStep {
    case ready
    case waiting
    /// The body is complete.
    case end
    case failed(BodyFailure)
}

package protocol BodyClient: AnyObject {
    func bodyReady()
}

/// Why the body, and not the connection, kept a request from being sent.
package enum BodyFailure: Error, Sendable {
    case file(FileFailure)
    /// The stream's own error.
    case stream((any Error)?)
    /// The stream was open already, or another task has taken it.
    case streamIsUsed
    /// The body has another number of bytes than the request's `Content-Length` says.
    case length(announced: Int64, found: Int64, isAtEnd: Bool)
    /// Neither the caller nor the delegate has a stream for the first time the body is sent.
    case noStream
    /// The delegate has no stream to send the body again.
    case exhausted
    /// There is no memory for its coding.
    case coding(ContentCoding)
    /// The fields behind the body cannot be sent.
    case trailers(RequestRejection)
}
