/// Walks a block of field lines, each ended by CR LF.
struct FieldLines {
    struct Line {
        /// The line with its line end.
        let whole: UnsafeRawBufferPointer
        /// The line without its line end.
        let text: UnsafeRawBufferPointer
        let name: UnsafeRawBufferPointer
        /// The value without white space around it.
        let value: UnsafeRawBufferPointer
    }

    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    mutating func next() -> Line? {
        guard position < bytes.count else { return nil }
        let start = position
        let end = endOfLine(from: start)
        let colon = ByteScanning.firstIndex(of: 0x3A, in: part(start, end: end)) ?? end - start
        return Line(
            whole: part(start, end: position),
            text: part(start, end: end),
            name: part(start, end: start + colon),
            value: ByteScanning.trimmingOWS(part(min(start + colon + 1, end), end: end))
        )
    }

    /// The value of the next field called `name`, skipping the others.
    ///
    /// Looks for the colon only where it would have to be, so passing over a line
    /// costs little more than finding its end.
    mutating func nextValue(of name: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        while position < bytes.count {
            let start = position
            let end = endOfLine(from: start)
            let colon = start + name.count
            guard colon < end, bytes[colon] == 0x3A else { continue }
            guard ByteScanning.equalsIgnoringCase(part(start, end: colon), other: name) else { continue }
            // Or the wanted "name" runs over the colon into the value.
            guard ByteScanning.firstIndex(of: 0x3A, in: name) == nil else { return nil }
            return ByteScanning.trimmingOWS(part(colon + 1, end: end))
        }
        return nil
    }

    /// Moves past the line that begins at `start` and returns where its text ends.
    private mutating func endOfLine(from start: Int) -> Int {
        let lineFeed = ByteScanning.firstIndex(of: 0x0A, in: bytes, from: start) ?? bytes.count
        position = min(lineFeed + 1, bytes.count)
        return lineFeed > start && bytes[lineFeed - 1] == 0x0D ? lineFeed - 1 : lineFeed
    }

    private func part(_ start: Int, end: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    }
}
