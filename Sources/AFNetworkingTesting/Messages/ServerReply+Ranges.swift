import AFWire

extension ServerReply {
    /// The answer of a file server: the whole file, or the ranges of `Range` if `If-Range` allows them.
    ///
    /// ```swift
    /// server.route("GET", "/film") { .file(film, entityTag: "\"1\"", to: $0) }
    /// ```
    ///
    /// The server answers one range with 206 and `Content-Range`, several with `multipart/byteranges` in the order of
    /// the request, and ranges beyond the end with 416.
    ///
    /// - Parameters:
    ///   - bytes: The content of the file.
    ///   - entityTag: The entity tag, quotes included.
    ///   - lastModified: The date of its last change.
    ///   - request: The request to answer. The answer to a malformed range, or to a range of another unit than bytes,
    ///     is the whole file.
    public static func file(
        _ bytes: some Sequence<UInt8>,
        entityTag: String? = nil,
        lastModified: String? = nil,
        to request: RecordedRequest
    ) -> ServerReply {
        let bytes = Array(bytes)
        return file(count: bytes.count, entityTag: entityTag, lastModified: lastModified, to: request) { range in
            .bytes(bytes[range])
        }
    }

    /// The same for content that need not fit into memory.
    ///
    /// - Parameter modified: The date of the last change, in seconds since 1970.
    package static func file(
        count: Int,
        type: String,
        entityTag: String,
        modified: Int64,
        to request: RecordedRequest,
        content: (Range<Int>) -> ReplyBody
    ) -> ServerReply {
        let date = HTTPDate.text(modified)
        return file(count: count, type: type, entityTag: entityTag, lastModified: date, to: request, content: content)
    }

    static func file(
        count: Int,
        type: String = "application/octet-stream",
        entityTag: String?,
        lastModified: String?,
        to request: RecordedRequest,
        content: (Range<Int>) -> ReplyBody
    ) -> ServerReply {
        var fields: HeaderFields = ["Accept-Ranges": "bytes"]
        fields["ETag"] = entityTag
        fields["Last-Modified"] = lastModified
        let condition = request.headers["If-Range"]
        // RFC 9110 section 13.1.5: a weak tag never matches in If-Range.
        let isSameTag = condition == entityTag && condition?.hasPrefix("W/") == false
        let isSame = condition == nil || isSameTag || condition == lastModified
        switch isSame ? RangeSelection(request.headers["Range"], in: count) : .whole {
        case .whole:
            return .stream(content(0..<count), type: type).headers(fields)
        case .nothing:
            return ServerReply(status: 416).headers(fields).header("Content-Range", "bytes */\(count)")
        case .parts(let parts) where parts.count == 1:
            return .stream(content(parts[0]), type: type).status(206).headers(fields)
                .header("Content-Range", contentRange(parts[0], of: count))
        case .parts(let parts):
            let body = multipart(parts, of: count, type: type, content: content)
            return .stream(body, type: "multipart/byteranges; boundary=\(boundary)").status(206).headers(fields)
        }
    }

    private static let boundary = "THIS_STRING_SEPARATES"

    private static func contentRange(_ part: Range<Int>, of count: Int) -> String {
        "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(count)"
    }

    private static func multipart(
        _ parts: [Range<Int>],
        of count: Int,
        type: String,
        content: (Range<Int>) -> ReplyBody
    ) -> ReplyBody {
        let bodies = parts.flatMap { part -> [ReplyBody] in
            let head =
                "\r\n--\(boundary)\r\nContent-Type: \(type)\r\n"
                + "Content-Range: \(contentRange(part, of: count))\r\n\r\n"
            return [.bytes(head.utf8), content(part)]
        }
        return .joined(bodies + [.bytes("\r\n--\(boundary)--\r\n".utf8)])
    }
}
