/// Why a body could not be sent, for reasons of its own.
package enum BodyFailure: Error, Sendable {
    case file(FileFailure)
    /// The stream's own error.
    case stream((any Error)?)
    /// It was open already, or read.
    case streamIsUsed
    /// Not as many bytes as the request's `Content-Length` says.
    case length(announced: Int64, found: Int64, isAtEnd: Bool)
    /// Nobody has a stream for the first time the body is sent.
    case noStream
    /// Nobody has a stream for another time.
    case exhausted
}
