/// Finds lines in a body that comes in pieces. Lines end with LF, CR LF or CR. The two bytes of CR LF may come in
/// different pieces; a line is complete as soon as its CR is there.
struct LineSplitter {
    /// A line is longer than the limit.
    struct TooLong: Error {}

    private let limit: Int
    /// The beginning of a line whose end has not arrived.
    private var open: [UInt8] = []
    /// Whether the last line ended with a CR: an LF that follows belongs to it.
    private var skipsLineFeed = false

    init(limit: Int) {
        self.limit = limit
    }

    /// Removes the next line and its line end from `bytes`. Nil if the line has no end yet; then the splitter keeps it.
    ///
    /// - Parameter form: Makes what the caller wants of the line's bytes.
    mutating func next<Line>(
        _ bytes: inout UnsafeRawBufferPointer,
        form: ([UInt8]) throws -> Line
    ) throws -> Line? {
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
        return try form(open)
    }

    /// The last line, if it has no line end.
    mutating func finish<Line>(_ form: ([UInt8]) throws -> Line) rethrows -> Line? {
        guard !open.isEmpty else { return nil }
        defer { open = [] }
        return try form(open)
    }

    private mutating func keep(_ bytes: Slice<UnsafeRawBufferPointer>) throws(TooLong) {
        guard bytes.count <= limit - open.count else { throw TooLong() }
        open.append(contentsOf: bytes)
    }
}
