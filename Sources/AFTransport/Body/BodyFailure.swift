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
}
