package import AFLoop

/// Where the body of a request comes from, while it is sent: memory, a file, a stream.
///
/// Confined to the loop, where it never waits: what is not there yet is `waiting`, and
/// the client is told when that changes. A source serves one exchange at a time, and
/// several in turn if it can begin again: after a retry, a redirect, a challenge.
package protocol BodySource: AnyObject {
    /// Told once after each `waiting`, in a later turn.
    var client: (any BodyClient)? { get set }

    /// What can be sent next. Asking makes more of it come.
    func next() -> BodyStep

    /// Hands out what is ready, in place.
    func withReady(_ take: (UnsafeRawBufferPointer) -> ChannelWrite) -> ChannelWrite

    /// So many bytes of what is ready are on their way.
    func consume(_ count: Int)

    /// Whether `rewind` has a chance.
    var mayReplay: Bool { get }

    /// Goes back to the first byte, and calls back once: at once, or when somebody has
    /// been asked. The bytes will be the same as before, or sending them fails.
    func rewind(_ done: @escaping (BodyFailure?) -> Void)

    /// Lets go of everything. Idempotent; nothing is called back afterwards.
    func close()
}

package enum BodyStep {
    case ready
    case waiting
    /// There is nothing more, and that is as it should be.
    case end
    case failed(BodyFailure)
}

package protocol BodyClient: AnyObject {
    func bodyReady()
}
