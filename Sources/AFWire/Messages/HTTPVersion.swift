/// The two versions of HTTP/1 we speak.
///
/// Any other minor version of major version 1 is read as 1.1 (RFC 9110 §2.5).
package enum HTTPVersion: UInt8, Sendable {
    case http10
    case http11
}
