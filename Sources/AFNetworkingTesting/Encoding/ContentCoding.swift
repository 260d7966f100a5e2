/// How a body is compressed.
public enum ContentCoding: String, Sendable, Hashable, CaseIterable {
    /// gzip (RFC 1952).
    case gzip
    /// What `deflate` means: zlib (RFC 1950).
    case zlib
    /// What some servers mean by `deflate`: no header, no checksum (RFC 1951).
    case rawDeflate

    /// Its name in `Content-Encoding`.
    public var token: String { self == .gzip ? "gzip" : "deflate" }

    /// Compresses bytes.
    public func encode(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        let bytes = Array(bytes)
        return header + Deflate.compressed(bytes)
            + trailer(crc: Checksum.crc32(bytes), adler: Checksum.adler32(bytes), count: bytes.count)
    }

    /// Makes bytes of the format that are as long as they were, and a bit longer.
    public func store(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        let bytes = Array(bytes)
        return header + Deflate.stored(bytes)
            + trailer(crc: Checksum.crc32(bytes), adler: Checksum.adler32(bytes), count: bytes.count)
    }

    private var header: [UInt8] {
        switch self {
        case .gzip: [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]
        case .zlib: [0x78, 0x9C]
        case .rawDeflate: []
        }
    }

    private func trailer(crc: UInt32, adler: UInt32, count: Int) -> [UInt8] {
        switch self {
        case .gzip: Self.bytes(crc.littleEndian) + Self.bytes(UInt32(truncatingIfNeeded: count).littleEndian)
        case .zlib: Self.bytes(adler.bigEndian)
        case .rawDeflate: []
        }
    }

    private static func bytes(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }

    /// Zeros, compressed about 1000 to 1 without making them.
    fileprivate func bomb(_ count: Int) -> ReplyBody {
        let bomb = DeflateBomb(count: count)
        let sums = (crc: Checksum.crc32(zeros: count), adler: Checksum.adler32(zeros: count))
        return .joined([
            .bytes(header + bomb.start),
            .repeating(bytes: [0], count: bomb.zeros),
            .bytes(bomb.end + trailer(crc: sums.crc, adler: sums.adler, count: count)),
        ])
    }
}

extension ReplyBody {
    /// A body that decompresses to `count` zero bytes, about a thousand times as long as itself.
    ///
    /// It costs nothing to make, also for terabytes.
    ///
    /// ```swift
    /// server.route("GET", "/bomb") { _ in
    ///     .stream(.bomb(.gzip, count: 10_000_000_000)).header("Content-Encoding", "gzip")
    /// }
    /// ```
    public static func bomb(_ coding: ContentCoding, count: Int) -> ReplyBody {
        coding.bomb(min(max(count, 0), 1 << 56))
    }
}

extension ServerReply {
    /// With the body compressed, and `Content-Encoding` to say so; again for another layer.
    ///
    /// The body is made as a whole first. A body without a known count, or a reply without a body, stays as it is.
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
}
