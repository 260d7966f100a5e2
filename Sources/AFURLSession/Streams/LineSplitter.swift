/// Finds lines in a body that comes in pieces. Ends of lines are LF, CR LF and CR; both bytes of CR LF may come in
/// different pieces, and a line is there as soon as its CR is.
struct LineSplitter {
    /// A line is longer than it may be.
    struct TooLong: Error {}

    private let limit: Int
    /// The beginning of a line whose end has not come.
    private var open: [UInt8] = []
    /// The last line ended with a CR: an LF now belongs to it.
    private var skipsLineFeed = false

    init(limit: Int) {
        self.limit = limit
    }

    /// The next line of `bytes`, which lose it and what ends it. Nil if it has no end; then it is kept.
    mutating func next(_ bytes: inout UnsafeRawBufferPointer) throws(TooLong) -> String? {
        if skipsLineFeed, let first = bytes.first {
            skipsLineFeed = false
            if first == 0x0A { bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst()) }
        }
        guard let end = bytes.firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) else {
            try keep(bytes[...])
            bytes = UnsafeRawBufferPointer(rebasing: bytes[bytes.count...])
            return nil
        }
        try keep(bytes[..<end])
        skipsLineFeed = bytes[end] == 0x0D
        bytes = UnsafeRawBufferPointer(rebasing: bytes[(end + 1)...])
        defer { open.removeAll(keepingCapacity: open.capacity <= 4096) }
        return String(decoding: open, as: UTF8.self)
    }

    /// The last line, if nothing ends it.
    mutating func finish() -> String? {
        guard !open.isEmpty else { return nil }
        defer { open = [] }
        return String(decoding: open, as: UTF8.self)
    }

    private mutating func keep(_ bytes: Slice<UnsafeRawBufferPointer>) throws(TooLong) {
        guard bytes.count <= limit - open.count else { throw TooLong() }
        open.append(contentsOf: bytes)
    }
}
