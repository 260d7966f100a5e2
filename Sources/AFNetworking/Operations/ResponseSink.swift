import AFBase
import Foundation

// Unchecked: the stream, Foundation's or the program's, is used by one thread at a time: once the operation has begun,
// where its connection is scheduled. Only the reference moves between threads; what makes it is behind the lock.
/// Where the body of a response goes.
final class ResponseSink: @unchecked Sendable {
    private struct Place {
        /// Nil for a place in memory of which the program has not asked for the stream.
        var stream: OutputStream?
        /// What was written while there was no stream.
        var bytes = Data()
        var isOpen = false

        /// Most bodies have one piece, which is kept as it is. A long one stands on a page that is lent, and longer: it is
        /// copied.
        mutating func keep(_ data: Data) {
            if bytes.isEmpty, data.count < 32 << 10 { bytes = data } else { bytes.append(data) }
        }
    }

    private let place: Lock<Place>
    /// Whether the bytes stay in memory, and become the operation's data.
    let isMemory: Bool
    /// Whether the stream was opened here, and reports an error since.
    private var refusedToOpen = false
    /// The offset of the first byte in the stream, if the stream has offsets.
    private var origin: Int64?
    /// The most bytes ever written after `origin`.
    private var extent: Int64 = 0
    /// Bytes of the response in the stream.
    private(set) var count: Int64 = 0

    /// A sink in memory.
    init() {
        place = Lock(Place())
        isMemory = true
    }

    /// A sink for the program's stream.
    init(_ stream: OutputStream) {
        place = Lock(Place())
        place.withLock { $0.stream = stream }
        isMemory = false
    }

    /// The stream for the program. From now on it takes the bytes of a sink in memory, too, and has those that have
    /// arrived before.
    var stream: OutputStream {
        place.withLock { place in
            if let stream = place.stream { return stream }
            let stream = OutputStream(toMemory: ())
            if place.isOpen {
                stream.open()
                _ = Self.write(place.bytes, to: stream)
            }
            place.stream = stream
            place.bytes = Data()
            return stream
        }
    }

    /// The stream; nil if the bytes are in memory and the program has not asked for one.
    var presentStream: OutputStream? { place.withLock { $0.stream } }

    /// The bytes, if they are in memory.
    var data: Data? {
        guard isMemory else { return nil }
        let (stream, bytes) = place.withLock { ($0.stream, $0.bytes) }
        guard let stream else { return bytes }
        // A cast to `Data` would copy the bytes one by one.
        let written = stream.property(forKey: .dataWrittenToMemoryStreamKey) as? NSData
        return written.map { Data(bytes: $0.bytes, count: $0.length) } ?? Data()
    }

    private var offset: Int64? {
        (presentStream?.property(forKey: .fileCurrentOffsetKey) as? NSNumber)?.int64Value
    }

    func open() {
        let (wasOpen, stream) = place.withLock { place in
            defer { place.isOpen = true }
            return (place.isOpen, place.stream)
        }
        guard !wasOpen, let stream else { return }
        if stream.streamStatus == .notOpen {
            stream.open()
            refusedToOpen = stream.streamStatus == .error
        }
        if !isMemory { origin = offset }
    }

    /// Why the stream could not be opened; nil if it is open. The error has the domain and code of the stream's own.
    ///
    /// - Parameter url: What is not loaded therefore.
    func openingError(for url: URL?) -> NSError? {
        guard refusedToOpen, let error = presentStream?.streamError as NSError? else { return nil }
        let reason = error.domain == NSPOSIXErrorDomain ? SystemErrorText.of(Int32(error.code)) : "\(error)"
        let message = """
            The request was not sent: the operation's output stream cannot be opened: \(reason). A stream does not \
            tell its path: look at the one it was made with, and whether its folder exists and can be written.
            """
        var details: [String: Any] = [NSLocalizedDescriptionKey: message]
        details[NSURLErrorFailingURLErrorKey] = url?.withoutCredentials
        return NSError(domain: error.domain, code: error.code, userInfo: details)
    }

    /// Writes all bytes, or returns the error.
    func write(_ data: Data) -> (any Error)? {
        open()
        let stream = place.withLock { place in
            if place.stream == nil { place.keep(data) }
            return place.stream
        }
        if let stream, let problem = Self.write(data, to: stream) { return failure(problem) }
        count += Int64(data.count)
        extent = max(extent, count)
        return nil
    }

    private static func write(_ data: Data, to stream: OutputStream) -> OutputFailure? {
        var done = 0
        while done < data.count {
            guard stream.hasSpaceAvailable else { return .noSpace }
            let written = data.withUnsafeBytes { bytes -> Int in
                let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
                guard let start = rest.bindMemory(to: UInt8.self).baseAddress else { return 0 }
                return stream.write(start, maxLength: rest.count)
            }
            guard written > 0 else { return written == 0 ? .noSpace : .refused }
            done += min(written, data.count - done)
        }
        return nil
    }

    /// Goes back to the beginning. Nil if the stream cannot do that; a sink in memory is replaced by a new one.
    func rewound() -> ResponseSink? {
        if count == 0 { return self }
        guard !isMemory else {
            presentStream?.close()
            return ResponseSink()
        }
        guard let origin, let stream = presentStream,
            stream.setProperty(NSNumber(value: origin), forKey: .fileCurrentOffsetKey), offset == origin
        else { return nil }
        count = 0
        return self
    }

    /// Whether a longer, former response has bytes left after the end: a stream cannot be truncated.
    var hasRemains: Bool { count < extent }

    /// Closes what was opened here.
    func close() {
        let (isOpen, stream) = place.withLock { ($0.isOpen, $0.stream) }
        if isOpen, let stream, stream.streamStatus != .closed { stream.close() }
    }

    // MARK: - Errors

    /// The stream's own error, or one that says what happened.
    func failure(_ failure: OutputFailure) -> any Error {
        // Foundation's streams end the process if they are asked for an error and have none.
        if let stream = presentStream, stream.streamStatus == .error, let error = stream.streamError { return error }
        return ClientFailure.output(failure).urlError(for: nil)
    }
}
