/// What can be wrong with a peer's message.
///
/// ```
/// status   the status line, or a status that cannot be
/// request  the request line (server side)
/// header   a field line, in a head or in trailers
/// framing  fields that leave the end of the body in doubt; bytes after the end
/// chunk    the chunked coding
/// limit    more than we are willing to hold; says which limit
/// closed   the peer went away; says where
/// ```
package struct HTTP1Error: Error, Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        case status
        case request
        case header
        case framing
        case chunk
        case limit(Limit)
        case closed(Position)
    }

    package enum Limit: Sendable, Equatable {
        case headBytes
        case headFields
        case lineBytes
        case taskHeadBytes
        case interimResponses
        case chunkExtensionBytes
        case trailerBytes
        case trailerFields
    }

    /// How far the message had come when the peer closed.
    package enum Position: Sendable, Equatable {
        /// Not one byte had arrived: the only position from which a request may be sent again.
        case beforeHead

        /// Within a head, or after an interim response.
        case inHead

        /// Within the body, its chunk framing, or the trailers.
        case inBody
    }

    package let kind: Kind

    /// What was wrong, in printable ASCII, with at most 256 bytes of what the peer said, in quotation marks.
    package let detail: String

    package init(_ kind: Kind, detail: String) {
        self.kind = kind
        self.detail = detail
    }

    /// An error that shows the offending bytes, escaped and cut.
    package init(_ kind: Kind, reason: StaticString, peer bytes: UnsafeRawBufferPointer) {
        self.kind = kind
        self.detail = "\(reason): \"\(PeerText.escaped(bytes))\""
    }
}
