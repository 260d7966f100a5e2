import Foundation

extension ServerReply {
    /// An empty reply with this status.
    public static func status(_ status: Int, reason: String? = nil) -> ServerReply {
        ServerReply(status: status, reason: reason)
    }

    /// A 200 with UTF-8 text.
    public static func text(_ text: String, type: String = "text/plain; charset=utf-8") -> ServerReply {
        data(text.utf8, type: type)
    }

    /// A 200 with JSON text.
    public static func json(_ text: String) -> ServerReply {
        data(text.utf8, type: "application/json")
    }

    /// A 200 with a value encoded as JSON, keys sorted.
    public static func json(encoding value: some Encodable) throws -> ServerReply {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return data(try encoder.encode(value), type: "application/json")
    }

    /// A 200 with these bytes.
    public static func data(_ bytes: some Sequence<UInt8>, type: String? = "application/octet-stream") -> ServerReply {
        stream(.bytes(bytes), type: type)
    }

    /// A 200 with a body from a source, which need not fit into memory.
    public static func stream(_ source: ReplyBody, type: String? = "application/octet-stream") -> ServerReply {
        var reply = ServerReply()
        reply.body = source
        reply.headers["Content-Type"] = type
        return reply
    }

    /// Exactly this text in place of a well-formed message; the connection stays open after it.
    ///
    /// Status, headers and framing do not apply; delays, dribbling and the cuts do.
    public static func raw(_ text: String) -> ServerReply {
        raw(bytes: text.utf8)
    }

    /// Exactly these bytes in place of a well-formed message; the connection stays open after them.
    public static func raw(bytes: some Sequence<UInt8>) -> ServerReply {
        var reply = ServerReply()
        reply.delivery.raw = Array(bytes)
        return reply
    }

    /// With another status.
    public func status(_ status: Int, reason: String? = nil) -> ServerReply {
        changed {
            $0.status = status
            $0.reason = reason
        }
    }

    /// With one more header field at the end. A field that a response has only once, such as `Content-Type`, replaces
    /// the previous one; `headers(_:)` adds it in any case.
    public func header(_ name: String, _ value: String) -> ServerReply {
        changed { reply in
            if Self.singleFields.contains(where: name.equalsIgnoringCase) {
                reply.headers[name] = value
            } else {
                reply.headers.append(name, value)
            }
        }
    }

    /// Fields that a response has only once (RFC 9110 and RFC 9111).
    private static let singleFields = [
        "Age", "Content-Disposition", "Content-Length", "Content-Location", "Content-Range", "Content-Type", "Date",
        "ETag", "Expires", "Last-Modified", "Location", "Retry-After", "Server",
    ]

    /// With more header fields at the end, also those that a response should have only once.
    public func headers(_ headers: HeaderFields) -> ServerReply {
        changed { $0.headers = HeaderFields($0.headers.fields + headers.fields) }
    }

    /// With the body in chunks of these sizes, of which the last repeats, and trailer fields after it.
    public func chunked(_ sizes: Int..., trailers: HeaderFields = [:]) -> ServerReply {
        changed { $0.framing = .chunked(sizes: sizes, trailers: trailers) }
    }

    /// With a body that ends with the connection, without a length.
    public func closeDelimited() -> ServerReply {
        changed { $0.framing = .untilClose }
    }

    /// With the body compressed and the coding in `Content-Encoding`. Use it again for another layer.
    ///
    /// The whole body is made first. A body without a known count, or a reply without a body, stays as it is.
    public func compressed(_ coding: ContentCoding) -> ServerReply {
        guard let body, let count = body.count else { return self }
        var bytes: [UInt8] = []
        while bytes.count < count {
            let piece = body.piece(bytes.count)
            if piece.isEmpty { break }
            bytes += piece
        }
        return changed { reply in
            reply.body = .bytes(coding.encode(bytes.prefix(count)))
            let others = reply.headers["Content-Encoding"].map { $0 + ", " } ?? ""
            reply.headers["Content-Encoding"] = others + coding.token
        }
    }

    func changed(_ body: (inout ServerReply) -> Void) -> ServerReply {
        var copy = self
        body(&copy)
        return copy
    }
}
