/// The source of a reply's body: bytes in memory, or bytes made while they are sent.
///
/// A large body takes no memory:
///
/// ```swift
/// server.route("GET", "/huge") { _ in .stream(.repeating("0123456789", count: 5_000_000_000)) }
/// ```
public struct ReplyBody: Sendable {
    /// How many bytes there are; nil if the body ends with its first empty piece.
    public let count: Int?
    /// Makes the piece that begins at an offset; an empty one is the end.
    let piece: @Sendable (_ offset: Int) -> [UInt8]

    /// These bytes.
    public static func bytes(_ bytes: some Sequence<UInt8>) -> ReplyBody {
        let stored = Array(bytes)
        return ReplyBody(count: stored.count) { offset in
            offset == 0 ? stored : Array(stored.dropFirst(offset))
        }
    }

    /// `count` bytes: the pattern again and again, cut at the count.
    ///
    /// An empty pattern repeats a zero byte.
    public static func repeating(_ pattern: String, count: Int) -> ReplyBody {
        repeating(bytes: Array(pattern.utf8), count: count)
    }

    /// `count` bytes: the pattern again and again, cut at the count.
    ///
    /// An empty pattern repeats a zero byte.
    public static func repeating(bytes pattern: [UInt8], count: Int) -> ReplyBody {
        let pattern = pattern.isEmpty ? [0] : pattern
        let count = max(count, 0)
        let laps = max(1, min(64 * 1024, count) / pattern.count)
        // Every piece is whole patterns, so that the next one begins with the pattern.
        let block = Array(repeatElement(pattern, count: laps).joined())
        return ReplyBody(count: count) { offset in
            let left = count - offset
            return left >= block.count ? block : Array(block.prefix(left))
        }
    }

    /// Bytes made on demand.
    ///
    /// - Parameters:
    ///   - count: How many bytes there are in all; nil to go on until an empty piece.
    ///   - next: Makes the piece that begins at the given offset, of any size. Called on the
    ///     connection's thread, once per piece, in order. With a count, surplus bytes are cut off, and
    ///     an empty piece ends the body early: the client sees a truncated body.
    public static func generated(
        count: Int? = nil,
        _ next: @escaping @Sendable (_ offset: Int) -> [UInt8]
    ) -> ReplyBody {
        ReplyBody(count: count.map { max($0, 0) }, piece: next)
    }

    /// A body that decompresses to `count` zero bytes, about a thousand times as long as itself.
    ///
    /// Making it takes neither time nor memory, even for terabytes.
    ///
    /// ```swift
    /// server.route("GET", "/bomb") { _ in
    ///     .stream(.bomb(.gzip, count: 10_000_000_000)).header("Content-Encoding", "gzip")
    /// }
    /// ```
    public static func bomb(_ coding: ContentCoding, count: Int) -> ReplyBody {
        let bomb = coding.bomb(min(max(count, 0), 1 << 56))
        return .joined([.bytes(bomb.start), .repeating(bytes: bomb.run, count: bomb.length), .bytes(bomb.end)])
    }

    /// Bodies one after the other; each must know its count.
    static func joined(_ bodies: [ReplyBody]) -> ReplyBody {
        var parts: [(start: Int, body: ReplyBody)] = []
        var total = 0
        for body in bodies where body.count ?? 0 > 0 {
            parts.append((total, body))
            total += body.count ?? 0
        }
        return .generated(count: total) { [parts] offset in
            // The last body that begins at the offset or before it has the piece.
            guard let part = parts.last(where: { $0.start <= offset }) else { return [] }
            let inside = offset - part.start
            let piece = part.body.piece(inside)
            let left = (part.body.count ?? 0) - inside
            return piece.count <= left ? piece : Array(piece.prefix(left))
        }
    }
}
