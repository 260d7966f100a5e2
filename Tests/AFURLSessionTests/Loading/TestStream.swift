import Dispatch

/// A stream made for one test: what it gives, how it ends, and what was done to it.
final class TestStream: InputStream {
    struct Broken: Error, Equatable {}

    enum End: Sendable {
        case end
        case failure
        /// It cannot even be opened.
        case refusal
        /// Says that it has read so many bytes, whatever there was room for.
        case boast(Int)
        /// Waits for a signal, then ends.
        case block(DispatchSemaphore)
    }

    struct Doings: Sendable {
        var given = 0
        var openings = 0
        var closings = 0
        var reads = 0
    }

    let doings: Watched<Doings>
    private let content: Data
    private let pieceSize: Int
    private let end: End
    private let status: Lock<Stream.Status>

    init(_ content: Data, pieces pieceSize: Int = .max, end: End = .end) {
        self.content = content
        self.pieceSize = pieceSize
        self.end = end
        doings = Watched(Doings())
        status = Lock(.notOpen)
        super.init(data: Data())
    }

    override var streamStatus: Stream.Status { status.withLock { $0 } }
    override var streamError: (any Error)? { streamStatus == .error ? Broken() : nil }
    override var hasBytesAvailable: Bool { true }

    override func open() {
        doings.change { $0.openings += 1 }
        let isRefused = if case .refusal = end { true } else { false }
        status.withLock { $0 = isRefused ? .error : .open }
    }

    override func close() {
        status.withLock { $0 = .closed }
        doings.change { $0.closings += 1 }
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        let given = doings.change { doings in
            doings.reads += 1
            return doings.given
        }
        let count = min(maxLength, pieceSize, content.count - given)
        guard count > 0 else { return ended() }
        content.copyBytes(to: buffer, from: given..<(given + count))
        doings.change { $0.given += count }
        return count
    }

    private func ended() -> Int {
        switch end {
        case .end: return 0
        case .boast(let count): return count
        case .failure, .refusal:
            status.withLock { $0 = .error }
            return -1
        case .block(let semaphore):
            semaphore.wait()
            return 0
        }
    }
}

/// Hands out streams when asked, the next one each time.
final class StreamSource: URLSessionDataDelegate {
    let questions = Watched(0)
    /// Answers the first question only.
    let isSilent = Watched(false)
    private let make: @Sendable (Int) -> InputStream?

    init(_ make: @escaping @Sendable (Int) -> InputStream?) {
        self.make = make
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        let number = questions.change { questions in
            questions += 1
            return questions
        }
        if isSilent.value, number > 1 { return }
        completionHandler(make(number))
        completionHandler(nil)
    }
}
