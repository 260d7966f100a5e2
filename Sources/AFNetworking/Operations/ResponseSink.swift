import Foundation

// Unchecked: the stream, Foundation's or the program's, is used by one thread at a time: once the operation has begun,
// where its connection is scheduled. Only the reference moves between threads.
/// Where the body of a response goes.
final class ResponseSink: @unchecked Sendable {
    let stream: OutputStream
    /// Whether the stream is in memory: its bytes become the operation's data.
    let isMemory: Bool
    private var isOpen = false
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
        stream = OutputStream(toMemory: ())
        isMemory = true
    }

    /// A sink for the program's stream.
    init(_ stream: OutputStream) {
        self.stream = stream
        isMemory = false
    }

    /// The bytes, if they are in memory.
    var data: Data? {
        guard isMemory else { return nil }
        // A cast to `Data` would copy the bytes one by one.
        let written = stream.property(forKey: .dataWrittenToMemoryStreamKey) as? NSData
        return written.map { Data(bytes: $0.bytes, count: $0.length) } ?? Data()
    }

    private var offset: Int64? {
        (stream.property(forKey: .fileCurrentOffsetKey) as? NSNumber)?.int64Value
    }

    func open() {
        guard !isOpen else { return }
        isOpen = true
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
        guard refusedToOpen, let error = stream.streamError as NSError? else { return nil }
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
        var done = 0
        while done < data.count {
            guard stream.hasSpaceAvailable else { return failure(.noSpace) }
            let written = data.withUnsafeBytes { bytes -> Int in
                let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
                guard let start = rest.bindMemory(to: UInt8.self).baseAddress else { return 0 }
                return stream.write(start, maxLength: rest.count)
            }
            guard written > 0 else { return failure(written == 0 ? .noSpace : .refused) }
            done += min(written, data.count - done)
        }
        count += Int64(data.count)
        extent = max(extent, count)
        return nil
    }

    /// Goes back to the beginning. Nil if the stream cannot do that; a sink in memory is replaced by a new one.
    func rewound() -> ResponseSink? {
        if count == 0 { return self }
        guard !isMemory else {
            stream.close()
            return ResponseSink()
        }
        guard let origin, stream.setProperty(NSNumber(value: origin), forKey: .fileCurrentOffsetKey), offset == origin
        else { return nil }
        count = 0
        return self
    }

    /// Whether a longer, former response has bytes left after the end: a stream cannot be truncated.
    var hasRemains: Bool { count < extent }

    /// Closes what was opened here.
    func close() {
        if isOpen, stream.streamStatus != .closed { stream.close() }
    }

    // MARK: - Errors

    /// The stream's own error, or one that says what happened.
    func failure(_ failure: OutputFailure) -> any Error {
        // Foundation's streams end the process if they are asked for an error and have none.
        if stream.streamStatus == .error, let error = stream.streamError { return error }
        return ClientFailure.output(failure).urlError(for: nil)
    }
}
