extension ServerReply {
    /// What a file server answers: the whole, or the part that `Range` asks for, if `If-Range` names the same file.
    ///
    /// ```swift
    /// server.route("GET", "/film") { .file(film, entityTag: "\"1\"", to: $0) }
    /// ```
    ///
    /// - Parameters:
    ///   - bytes: The file.
    ///   - entityTag: Its tag, quotes included.
    ///   - lastModified: The date of its last change.
    ///   - request: The request to answer. A range in any form but one of bytes is answered with the whole.
    public static func file(
        _ bytes: some Sequence<UInt8>,
        entityTag: String? = nil,
        lastModified: String? = nil,
        to request: RecordedRequest
    ) -> ServerReply {
        let bytes = Array(bytes)
        var fields: HeaderFields = ["Accept-Ranges": "bytes"]
        fields["ETag"] = entityTag
        fields["Last-Modified"] = lastModified
        let condition = request.headers["If-Range"]
        let isSame = condition == nil || condition == entityTag || condition == lastModified
        guard isSame, let range = request.headers["Range"], let span = span(of: range, in: bytes.count) else {
            return .data(bytes).headers(fields)
        }
        guard let span = span.nonEmpty else {
            return ServerReply(status: 416).headers(fields).header("Content-Range", "bytes */\(bytes.count)")
        }
        return .data(bytes[span]).status(206).headers(fields)
            .header("Content-Range", "bytes \(span.lowerBound)-\(span.upperBound - 1)/\(bytes.count)")
    }

    /// Nil if the value is no single range in bytes; empty if there is nothing in it.
    private static func span(of value: String, in count: Int) -> Range<Int>? {
        guard value.hasPrefix("bytes=") else { return nil }
        let ends = value.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        switch (Int(ends[0]), Int(ends[1])) {
        case (let first?, let last?) where first >= 0 && last >= first:
            return first < count ? first..<(min(last, count - 1) + 1) : count..<count
        case (let first?, nil) where first >= 0 && ends[1].isEmpty:
            return min(first, count)..<count
        case (nil, let last?) where ends[0].isEmpty && last >= 0:
            return max(0, count - last)..<count
        default:
            return nil
        }
    }
}

extension Range<Int> {
    fileprivate var nonEmpty: Range<Int>? { isEmpty ? nil : self }
}
