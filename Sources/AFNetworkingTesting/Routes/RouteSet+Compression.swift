extension RouteSet {
    /// Compressed bodies, intact and damaged.
    ///
    /// `/compressed/CODING/KIND`, CODING being `gzip`, `deflate` (zlib) or `raw-deflate`:
    ///
    /// | kind | body |
    /// |---|---|
    /// | `plain` | compressed |
    /// | `stored` | the format without compression |
    /// | `members` | three parts, each compressed separately |
    /// | `truncated` | without its last `cut=N` bytes, by default ten |
    /// | `corrupt` | with one bit of the checksum flipped (of the data if there is no checksum) |
    /// | `surplus` | followed by bytes that do not belong to it |
    /// | `uncompressed` | not compressed, although `Content-Encoding` says so |
    /// | `empty` | no bytes |
    /// | `twice` | compressed twice |
    /// | `unannounced` | compressed, without `Content-Encoding` |
    /// | `bomb` | `size=N` zeros, by default a million, compressed 1000 to 1 |
    ///
    /// `/gzip`, `/deflate` and `/raw-deflate` are short for `plain`. The content is JSON of the request, or, with
    /// `size=N`, N letters of the alphabet; `bomb` is zeros. The routes answer every method and ignore
    /// `Accept-Encoding`.
    public static var compression: RouteSet {
        RouteSet { server in
            for (name, coding) in codings {
                server.route("*", "/\(name)") { reply(to: $0, kind: "plain", coding: coding) }
                server.route("*", "/compressed/\(name)/:kind") { request in
                    reply(to: request, kind: request.parameters["kind"] ?? "", coding: coding)
                }
            }
        }
    }

    private static let codings: [(String, ContentCoding)] = [
        ("gzip", .gzip), ("deflate", .zlib), ("raw-deflate", .rawDeflate),
    ]

    private static func reply(to request: RecordedRequest, kind: String, coding: ContentCoding) -> ServerReply {
        if kind == "bomb" {
            let size = request.count("size") ?? 1_000_000
            return .stream(.bomb(coding, count: size)).header("Content-Encoding", coding.token)
        }
        let size = request.count("size")
        guard size ?? 0 <= 1 << 26 else { return .misuse("a size of at most 64 MiB") }
        let content = size.map { count in
            (0..<count).map { UInt8(ascii: "a") + UInt8($0 % 26) }
        }
        let plain = content ?? Array((Echo.of(request).text + "\n").utf8)
        let type = content == nil ? "application/json" : "text/plain"
        if kind == "twice" { return .data(plain, type: type).compressed(coding).compressed(coding) }
        guard let body = body(plain, kind: kind, coding: coding, cut: request.count("cut") ?? 10) else {
            return .misuse("a kind of body that there is")
        }
        let reply = ServerReply.data(body, type: type)
        return kind == "unannounced" ? reply : reply.header("Content-Encoding", coding.token)
    }

    private static func body(_ plain: [UInt8], kind: String, coding: ContentCoding, cut: Int) -> [UInt8]? {
        switch kind {
        case "plain", "unannounced": return coding.encode(plain)
        case "stored": return coding.store(plain)
        case "members":
            let size = max(plain.count / 3, 1)
            let cuts = [0, min(size, plain.count), min(2 * size, plain.count), plain.count]
            return zip(cuts, cuts.dropFirst()).flatMap { coding.encode(plain[$0..<$1]) }
        case "truncated": return coding.encode(plain).dropLast(cut)
        case "corrupt":
            var bytes = coding.encode(plain)
            // The four bytes before the length, or the four at the end, are the checksum.
            bytes[coding == .gzip ? bytes.count - 8 : max(bytes.count - 4, 0)] ^= 1
            return bytes
        case "surplus": return coding.encode(plain) + Array("surplus bytes".utf8)
        case "uncompressed": return plain
        case "empty": return []
        default: return nil
        }
    }
}
