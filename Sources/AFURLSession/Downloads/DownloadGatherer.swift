import AFTransport

/// Gathers a body until there is enough for one write.
///
/// Large reads are lent and not copied; small ones are copied together, page by page.
struct DownloadGatherer {
    /// A write ends where a multiple of this many bytes of the file ends. A write of 256 KiB costs half as much again
    /// per byte; above 1 MiB nothing is gained.
    static let writeSize = 1 << 20

    private var pieces: [LentBytes] = []
    private var page: (page: ReadPage, count: Int)?
    /// How many bytes are gathered.
    private(set) var count = 0
    /// Where in the file they belong.
    private(set) var offset: Int64 = 0

    init(at offset: Int64 = 0) {
        self.offset = offset
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer, from buffer: ReadBuffer) {
        count += bytes.count
        guard let loan = buffer.lend(bytes) else { return copy(bytes, from: buffer) }
        closePage(buffer)
        pieces.append(LentBytes(loan))
    }

    private mutating func copy(_ bytes: UnsafeRawBufferPointer, from buffer: ReadBuffer) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let (page, used) = self.page ?? (buffer.blankPage(), 0)
            let part = rest.prefix(ReadBuffer.size - used)
            UnsafeMutableRawBufferPointer(rebasing: page.bytes[used...]).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: part)
            )
            self.page = (page, used + part.count)
            if used + part.count == ReadBuffer.size { closePage(buffer) }
            rest = rest.dropFirst(part.count)
        }
    }

    private mutating func closePage(_ buffer: ReadBuffer) {
        guard let page else { return }
        pieces.append(LentBytes(buffer.lend(page.page, count: page.count)))
        self.page = nil
    }

    /// Whether there is enough for a write of full size.
    var isFull: Bool { count >= roomToBoundary }

    private var roomToBoundary: Int {
        DownloadGatherer.writeSize - Int(offset % Int64(DownloadGatherer.writeSize))
    }

    /// Takes all bytes up to the last boundary.
    mutating func takeFull(_ buffer: ReadBuffer) -> [LentBytes] {
        closePage(buffer)
        let surplus = (count - roomToBoundary) % DownloadGatherer.writeSize
        var kept: [LentBytes] = []
        var left = surplus
        while left > 0, var last = pieces.popLast() {
            guard last.range.count > left else {
                kept.append(last)
                left -= last.range.count
                continue
            }
            kept.append(last.split(last: left))
            pieces.append(last)
            left = 0
        }
        defer {
            offset += Int64(count - surplus)
            count = surplus
            pieces = kept.reversed()
        }
        return pieces
    }

    /// Takes all bytes.
    mutating func takeAll(_ buffer: ReadBuffer) -> [LentBytes] {
        closePage(buffer)
        defer {
            offset += Int64(count)
            count = 0
            pieces = []
        }
        return pieces
    }
}
