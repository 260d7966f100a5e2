/// The status line and the fields of a response, and what they mean for the connection.
package struct ResponseHead: Sendable {
    package let version: HTTPVersion

    /// Three digits, 100 to 999. Those from 600 on count as 5xx.
    package let status: Int

    /// The fields, in order, as received.
    package let headers: HTTPHeaders

    /// Where the body ends, request method and status considered.
    package let framing: BodyFraming

    /// Whether the peer is willing to keep the connection, by version and Connection field (RFC 9112 §9.3).
    package let persistent: Bool

    /// Seconds the peer says it will keep an idle connection (`Keep-Alive: timeout=`).
    package let keepAliveTimeout: Int?

    /// The announced length, also where no body follows (HEAD, 304). Nil if another framing governs.
    package let contentLength: UInt64?

    /// Whether there is a `Content-Encoding` field: hardly any response has one, and this saves the search for it.
    package let hasContentCoding: Bool

    /// Whether there is a `Set-Cookie` field.
    package let setsCookies: Bool

    /// Whether a server that sends it wants no more of the request: it refuses it, or closes the connection.
    package var endsRequest: Bool { status >= 400 || !persistent }

    /// Where the reason phrase stands in the received block.
    package let reasonRange: Range<UInt32>

    /// The reason phrase, often empty. For people only; it may hold anything the server chose to write.
    package var reason: String { headers.startText(reasonRange) }
}

extension ResponseHead: Equatable {
    /// Whether both say the same; how it was spaced on the wire does not count.
    package static func == (one: ResponseHead, other: ResponseHead) -> Bool {
        one.version == other.version && one.status == other.status && one.reason == other.reason
            && one.headers == other.headers && one.framing == other.framing
            && one.persistent == other.persistent && one.keepAliveTimeout == other.keepAliveTimeout
            && one.contentLength == other.contentLength
    }
}
