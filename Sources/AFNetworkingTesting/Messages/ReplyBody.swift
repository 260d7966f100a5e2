/// Where the bytes of a reply's body come from: memory, or made while they are sent.
///
/// Large bodies cost no memory:
///
/// ```swift
/// server.route("GET", "/huge") { _ in .stream(.repeating("0123456789", count: 5_000_000_000)) }
/// ```
public struct ReplyBody: Sendable {
    /// How many bytes there will be; nil when only the end tells.
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

    /// `count` bytes: the pattern over and over, cut where the count ends.
    ///
    /// An empty pattern repeats a zero byte.
    public static func repeating(_ pattern: String, count: Int) -> ReplyBody {
        repeating(bytes: Array(pattern.utf8), count: count)
    }

    /// `count` bytes: the pattern over and over, cut where the count ends.
    ///
    /// An empty pattern repeats a zero byte.
    public static func repeating(bytes pattern: [UInt8], count: Int) -> ReplyBody {
        let pattern = pattern.isEmpty ? [0] : pattern
        let count = max(count, 0)
        let laps = max(1, min(64 * 1024, count) / pattern.count)
        // Whole laps only, so that every piece begins where the pattern begins.
        let block = Array(repeatElement(pattern, count: laps).joined())
        return ReplyBody(count: count) { offset in
            let left = count - offset
            return left >= block.count ? block : Array(block.prefix(left))
        }
    }

    /// Bytes made on demand.
    ///
    /// - Parameters:
    ///   - count: How many there are in all; nil to go on until an empty piece.
    ///   - next: Makes the piece that begins at the given offset, of any size. Called on the
    ///     connection's thread, once per piece, in order. With a count, surplus bytes are cut and
    ///     an empty piece ends the body early, which the client sees as a truncated one.
    public static func generated(
        count: Int? = nil,
        _ next: @escaping @Sendable (_ offset: Int) -> [UInt8]
    ) -> ReplyBody {
        ReplyBody(count: count.map { max($0, 0) }, piece: next)
    }
}
