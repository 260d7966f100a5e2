import Foundation

/// Reads a form from its beginning to its end, in pieces of any size.
struct MultipartReader {
    private enum Phase {
        /// The boundary and the head of a part, from an offset on.
        case opening(part: Int, bytes: [UInt8], offset: Int)
        /// The body of a part is yet to be opened.
        case entering(part: Int)
        case body(part: Int, MultipartPartReader)
        case closing(bytes: [UInt8], offset: Int)
        case end
    }

    private let layout: MultipartLayout
    private var phase: Phase

    init(_ layout: MultipartLayout) {
        self.layout = layout
        phase = .end
        phase = opening(of: 0)
    }

    /// Reads some bytes, if there is room. Nil at the end; 0 only means that the next section begins.
    mutating func read(into room: UnsafeMutableBufferPointer<UInt8>) throws(NSError) -> Int? {
        switch phase {
        case .opening(let part, let bytes, var offset):
            let count = MultipartReader.copy(bytes, from: &offset, into: room)
            let isComplete = offset == bytes.count
            phase = isComplete ? .entering(part: part) : .opening(part: part, bytes: bytes, offset: offset)
            return count
        case .entering(let part):
            phase = .end
            phase = .body(part: part, try MultipartPartReader(opening: layout.parts[part]))
            return 0
        case .body(let part, var reader):
            // The phase keeps no second reference while it reads.
            phase = .end
            do throws(NSError) {
                let count = try reader.read(into: room)
                if count == 0 { reader.close() }
                phase = count > 0 ? .body(part: part, reader) : opening(of: part + 1)
                return count
            } catch {
                reader.close()
                throw error
            }
        case .closing(let bytes, var offset):
            let count = MultipartReader.copy(bytes, from: &offset, into: room)
            phase = offset < bytes.count ? .closing(bytes: bytes, offset: offset) : .end
            return count
        case .end: return nil
        }
    }

    /// Closes the files and streams of a form that is read no further.
    mutating func close() {
        if case .body(_, let reader) = phase { reader.close() }
        phase = .end
    }

    private func opening(of part: Int) -> Phase {
        guard layout.parts.indices.contains(part) else { return .closing(bytes: layout.closing, offset: 0) }
        return .opening(part: part, bytes: layout.opening(of: part), offset: 0)
    }

    private static func copy(
        _ bytes: [UInt8],
        from offset: inout Int,
        into room: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        let count = min(room.count, bytes.count - offset)
        _ = UnsafeMutableBufferPointer(rebasing: room.prefix(count)).update(from: bytes[offset..<offset + count])
        offset += count
        return count
    }
}

/// Reads the body of one part once, and checks that it is as long as was announced.
struct MultipartPartReader {
    private enum Content {
        case data(Data)
        case stream(InputStream)
    }

    private let part: MultipartPart
    private let content: Content
    private let stamp: MultipartSourceFile.Stamp?
    private var given: Int64 = 0

    init(opening part: MultipartPart) throws(NSError) {
        self.part = part
        switch part.source {
        case .data(let data):
            content = .data(data)
            stamp = nil
        case .stream(let shared):
            guard let stream = shared.take() else { throw MultipartError.streamIsUsed(shared.name) }
            content = .stream(stream)
            stamp = nil
            if stream.streamStatus == .notOpen { stream.open() }
            if stream.streamStatus == .error { throw refusal(of: stream) }
        case .file(let file):
            guard let stream = file.makeStream() else { throw MultipartError.unreadable(part, cause: file.reason) }
            content = .stream(stream)
            stream.open()
            stamp = file.stamp
            if stream.streamStatus == .error { throw MultipartError.unreadable(part, cause: file.reason) }
        }
    }

    /// Returns 0 at the end, and only there.
    mutating func read(into room: UnsafeMutableBufferPointer<UInt8>) throws(NSError) -> Int {
        switch content {
        case .data(let data): return try read(data, into: room)
        case .stream(let stream): return try read(stream, into: room)
        }
    }

    private mutating func read(
        _ data: Data,
        into room: UnsafeMutableBufferPointer<UInt8>
    ) throws(NSError) -> Int {
        let start = data.startIndex + Int(given)
        let count = min(room.count, data.endIndex - start)
        if count == 0 { return try end() }
        data.copyBytes(to: room, from: start..<start + count)
        given += Int64(count)
        return count
    }

    private mutating func read(
        _ stream: InputStream,
        into room: UnsafeMutableBufferPointer<UInt8>
    ) throws(NSError) -> Int {
        let limit = Int(min(Int64(room.count), part.length - given))
        guard limit > 0, let base = room.baseAddress else { return try endOfStream(stream) }
        let count = stream.read(base, maxLength: limit)
        // A stream that reports more bytes than there was room for is broken.
        guard count >= 0, count <= limit else { throw failure(of: stream) }
        if count == 0 {
            if stream.streamStatus == .error { throw failure(of: stream) }
            return try end()
        }
        given += Int64(count)
        return count
    }

    /// All announced bytes have been read. The stream must not have one more.
    private func endOfStream(_ stream: InputStream) throws(NSError) -> Int {
        var byte: UInt8 = 0
        let count = stream.read(&byte, maxLength: 1)
        if count > 0 { throw MultipartError.length(of: part, found: given + 1, isAtEnd: false) }
        if count < 0 || stream.streamStatus == .error { throw failure(of: stream) }
        return try end()
    }

    private func end() throws(NSError) -> Int {
        if case .file(let file) = part.source, file.isChanged(since: stamp) { throw MultipartError.changed(part) }
        if given < part.length { throw MultipartError.length(of: part, found: given, isAtEnd: true) }
        return 0
    }

    /// On Linux Foundation's own class does not implement `streamError`: calling it ends the process.
    private func failure(of stream: InputStream) -> NSError {
        let isAskable = type(of: stream) != InputStream.self && stream.streamStatus == .error
        return MultipartError.unreadable(part, cause: isAskable ? stream.streamError : nil)
    }

    /// Closes the stream that failed to open.
    private func refusal(of stream: InputStream) -> NSError {
        defer { stream.close() }
        return failure(of: stream)
    }

    func close() {
        if case .stream(let stream) = content { stream.close() }
    }
}

/// The parts of a form between their boundaries. A constant: each stream of it reads the same.
///
/// ```
/// --B CRLF  head  body  CRLF --B CRLF  head  body  CRLF --B-- CRLF
/// ```
struct MultipartLayout: Sendable {
    let parts: [MultipartPart]
    let boundary: String
    let packets: MultipartPackets

    init(_ parts: [MultipartPart], boundary: String, packets: MultipartPackets = MultipartPackets()) {
        self.parts = parts
        self.boundary = boundary
        self.packets = packets
    }

    /// A boundary of 128 random bits for each form: with a known boundary, the content of a part could end the part.
    static func randomBoundary() -> String {
        var random = SystemRandomNumberGenerator()
        let numbers = (0..<4).map { _ in
            let digits = String(UInt32.random(in: 0...UInt32.max, using: &random), radix: 16, uppercase: true)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }
        return "Boundary+" + numbers.joined()
    }

    /// The bytes before the body of a part.
    func opening(of index: Int) -> [UInt8] {
        Array("\(index == 0 ? "" : "\r\n")--\(boundary)\r\n".utf8) + parts[index].head.bytes
    }

    /// The bytes after the last part.
    var closing: [UInt8] { Array("\r\n--\(boundary)--\r\n".utf8) }

    /// The number of bytes; nil if it overflows.
    var length: Int64? {
        var sum = Int64(closing.count)
        for index in parts.indices {
            for count in [Int64(opening(of: index).count), parts[index].length] {
                let (next, isTooLong) = sum.addingReportingOverflow(count)
                if isTooLong { return nil }
                sum = next
            }
        }
        return sum
    }
}

/// How much of a form is read at a time, and how often.
struct MultipartPackets: Sendable, Hashable {
    /// At least one byte: a read of no bytes would be the end.
    let size: Int
    let delay: TimeInterval

    init(size: Int = .max, delay: TimeInterval = 0) {
        self.size = max(1, size)
        self.delay = delay
    }

    /// Nil if nothing slows it down.
    var bytesPerSecond: Int? {
        guard size < Int.max, delay > 0, delay.isFinite else { return nil }
        return max(1, Int(exactly: (Double(size) / delay).rounded()) ?? .max)
    }
}
