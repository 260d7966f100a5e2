import AFRequest
import Foundation

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
        case .stream(let handed):
            guard let stream = handed.take() else { throw MultipartError.streamIsUsed(part) }
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
