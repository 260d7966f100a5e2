import AFWire

extension ServerReply {
    /// What a file server answers: the whole, or what `Range` asks for, if `If-Range` names the same file.
    ///
    /// ```swift
    /// server.route("GET", "/film") { .file(film, entityTag: "\"1\"", to: $0) }
    /// ```
    ///
    /// One range is answered with 206 and `Content-Range`, several with `multipart/byteranges` in the order asked
    /// for, ranges beyond the end with 416.
    ///
    /// - Parameters:
    ///   - bytes: The file.
    ///   - entityTag: Its tag, quotes included.
    ///   - lastModified: The date of its last change.
    ///   - request: The request to answer. A range that cannot be read, or of anything but bytes, is answered with
    ///     the whole.
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

    /// The same of something that need not fit into memory, and was changed so many seconds after 1970.
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
        // RFC 9110 section 13.1.5: a weak tag never matches here.
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

/// What a `Range` field asks for of something with a known length (RFC 9110 section 14.2).
enum RangeSelection: Equatable {
    /// Everything: there is no range, or none in bytes that can be read.
    case whole
    /// These parts, in the order asked for; never none, and none is empty.
    case parts([Range<Int>])
    /// Nothing: every part lies beyond the end.
    case nothing

    init(_ field: String?, in count: Int) {
        let bytes = Array((field ?? "").utf8)
        guard String(decoding: bytes.prefix(6), as: UTF8.self).equalsIgnoringCase("bytes=") else {
            self = .whole
            return
        }
        var parts: [Range<Int>] = []
        for member in bytes[6...].split(separator: UInt8(ascii: ",")) {
            guard let part = Self.part(member.trimmed, in: count) else {
                self = .whole
                return
            }
            if !part.isEmpty { parts.append(part) }
        }
        let isEmpty = bytes[6...].allSatisfy { $0 == UInt8(ascii: ",") || $0.isBlank }
        self = isEmpty ? .whole : parts.isEmpty ? .nothing : .parts(parts)
    }

    /// Nil if it cannot be read; empty if there is nothing in it.
    private static func part(_ text: ArraySlice<UInt8>, in count: Int) -> Range<Int>? {
        let ends = text.split(separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        let numbers = ends.map { DecimalText.count(String(decoding: $0, as: UTF8.self)) }
        switch (numbers[0], numbers[1]) {
        case (let first?, let last?) where last >= first:
            return first < count ? first..<(min(last, count - 1) + 1) : count..<count
        case (let first?, nil) where ends[1].isEmpty:
            return min(first, count)..<count
        case (nil, let last?) where ends[0].isEmpty:
            return max(0, count - last)..<count
        default:
            return nil
        }
    }
}
