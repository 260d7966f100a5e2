/// What a request's method means for its framing and for repeating it.
package struct MethodTraits: Sendable {
    /// Sending the request twice asks for nothing more than sending it once (RFC 9110 §9.2.2).
    package let isIdempotent: Bool
    package let mayHaveBody: Bool
    /// RFC 9110 §9.3.8: its request must not have a body.
    package let isTrace: Bool
    /// `Content-Length: 0` is sent when there is no body, because servers expect one (RFC 9110 §8.6).
    package let announcesEmptyBody: Bool
    package let isHead: Bool

    /// The methods that a server may get twice: those of RFC 9110 §9.2.2, and QUERY (RFC 10008).
    package static let idempotentMethods: Set<String> = ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "QUERY"]

    /// A method as Foundation spells it, whose six methods are in upper case however the caller writes them.
    package static func spelling(_ method: String) -> String {
        ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT"].first { HTTPText.isSameName($0, other: method) } ?? method
    }

    /// Whether a request only reads (RFC 9110 §9.2.1, RFC 10008), so that it may be sent whenever a client likes.
    package static func isSafe(_ method: String) -> Bool {
        ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"].contains(method)
    }

    /// Refuses what is no token, and CONNECT. Methods are case-sensitive: `patch` is some other method.
    package init(_ method: String) throws(RequestRejection) {
        isHead = method == "HEAD"
        isTrace = method == "TRACE"
        switch method {
        case "GET", "HEAD", "TRACE": (isIdempotent, mayHaveBody, announcesEmptyBody) = (true, false, false)
        case "POST", "PATCH": (isIdempotent, mayHaveBody, announcesEmptyBody) = (false, true, true)
        case "PUT", "QUERY": (isIdempotent, mayHaveBody, announcesEmptyBody) = (true, true, true)
        case "DELETE", "OPTIONS": (isIdempotent, mayHaveBody, announcesEmptyBody) = (true, true, false)
        default:
            try method.withUTF8Bytes { bytes throws(RequestRejection) in try RequestSyntax.checkMethod(bytes) }
            (isIdempotent, mayHaveBody, announcesEmptyBody) = (false, true, false)
        }
    }
}
