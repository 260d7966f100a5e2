/// Reads the frames of a client from its connection.
struct FrameReader {
    private let stream: any SwitchedStream
    private var unread: ArraySlice<UInt8>

    init(stream: any SwitchedStream, early: [UInt8]) {
        self.stream = stream
        unread = early[...]
    }

    /// The next frame; nil if the client closes its side before it.
    ///
    /// - Parameter limit: How long its payload may be.
    mutating func next(limit: Int) throws -> ServerFrame? {
        if unread.isEmpty, try !receive() { return nil }
        let head = try take(2)
        let length =
            switch head[1] & 0x7F {
            case 126: try takeNumber(2)
            case 127: try takeNumber(8)
            case let short: UInt64(short)
            }
        guard length <= limit else { throw ClientViolation(reason: "a frame of \(length) bytes") }
        let key = head[1] & 0x80 == 0 ? nil : UInt32(try takeNumber(4))
        let payload = try take(Int(length))
        var frame = ServerFrame(
            .init(rawValue: head[0]),
            key.map { ServerFrame.masked(payload, with: $0) } ?? payload,
            isFinal: head[0] & 0x80 != 0,
            reservedBits: head[0] >> 4 & 7,
            maskingKey: key
        )
        let form: ServerFrame.LengthForm = head[1] & 0x7F == 127 ? .long : head[1] & 0x7F == 126 ? .medium : .short
        if form != .init(for: length) { frame.lengthForm = form }
        return frame
    }

    private mutating func takeNumber(_ count: Int) throws -> UInt64 {
        try take(count).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func take(_ count: Int) throws -> [UInt8] {
        while unread.count < count {
            guard try receive() else { throw ConnectionEnd.clientClosed }
        }
        defer { unread = unread.dropFirst(count) }
        return Array(unread.prefix(count))
    }

    /// False at the end of the stream.
    private mutating func receive() throws -> Bool {
        try withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 16) { buffer in
            let count = try stream.receive(into: buffer)
            unread += buffer.prefix(count)
            return count > 0
        }
    }
}
