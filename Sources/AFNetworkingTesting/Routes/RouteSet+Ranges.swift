extension RouteSet {
    /// Ranges of a longer body.
    ///
    /// `/range/N` is N letters of the alphabet, with `ETag`, `Last-Modified` and `Accept-Ranges`. The server answers
    /// one range with 206, several with 206 and `multipart/byteranges`, ranges beyond the end with 416. It sends the
    /// whole body if `If-Range` names another version. Bodies of any size take no memory.
    ///
    /// | query | effect |
    /// |---|---|
    /// | `etag=TAG` | another tag, as if the content had changed; empty for none |
    /// | `ignore=1` | always the whole body, as from a server without ranges |
    /// | `shift=K` | every 206 begins K bytes later than the client asked, and says so |
    /// | `duration=SECONDS` | sends the body piece by piece over this time |
    public static var ranges: RouteSet {
        RouteSet { server in
            server.route("GET", "/range/:count") { request in
                guard let count = request.countInPath("count") else { return .misuse("/range/NUMBER") }
                let reply = alphabet(count, for: request)
                guard let duration = request.duration("duration"), let body = reply.body else { return reply }
                return reply.slowed(body, over: duration)
            }
        }
    }

    private static func alphabet(_ count: Int, for request: RecordedRequest) -> ServerReply {
        if request.argument("ignore") == "1" { return .stream(letters(0..<count)) }
        let tag = request.argument("etag") ?? "range\(count)"
        let asked = request.shifted(by: request.count("shift") ?? 0, in: count)
        return .file(
            count: count,
            entityTag: tag.isEmpty ? nil : DigestRules.quoted(tag),
            lastModified: "Sun, 06 Nov 1994 08:49:37 GMT",
            to: asked,
            content: letters
        )
    }

    private static func letters(_ range: Range<Int>) -> ReplyBody {
        .generated(count: range.count) { offset in
            let start = range.lowerBound + offset
            let end = min(start + 64 * 1024, range.upperBound)
            return (start..<end).map { UInt8(ascii: "a") + UInt8($0 % 26) }
        }
    }
}

extension RecordedRequest {
    /// The same request for one range that begins later.
    fileprivate func shifted(by distance: Int, in count: Int) -> RecordedRequest {
        guard distance > 0, case .parts(let parts) = RangeSelection(headers["Range"], in: count), let part = parts.first
        else { return self }
        let start = min(part.lowerBound + distance, part.upperBound - 1)
        var request = self
        request.headers["Range"] = "bytes=\(start)-\(part.upperBound - 1)"
        return request
    }
}

extension ServerReply {
    /// In ten pieces, with a pause before each.
    fileprivate func slowed(_ body: ReplyBody, over duration: Duration) -> ServerReply {
        guard let count = body.count, count > 0 else { return self }
        let size = (count + 9) / 10
        var reply = self
        reply.body = .generated(count: count) { Array(body.piece($0).prefix(size)) }
        return reply.pacing(every: duration / ((count + size - 1) / size))
    }
}
