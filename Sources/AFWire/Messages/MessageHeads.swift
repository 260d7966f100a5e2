/// The two versions of HTTP/1 we speak.
///
/// Any other minor version of major version 1 is read as 1.1 (RFC 9110 §2.5).
package enum HTTPVersion: UInt8, Sendable {
    case http10
    case http11
}

/// How the end of a message body is found (RFC 9112 §6.3).
package enum BodyFraming: Sendable, Equatable {
    /// There is no body, whatever the fields say.
    case none

    /// Exactly so many bytes.
    case length(UInt64)

    /// Chunks, up to the one of size zero and the trailers after it.
    case chunked

    /// Everything until the peer closes. Such a connection serves nothing after it.
    case untilClose
}
