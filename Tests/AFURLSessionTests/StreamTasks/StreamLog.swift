/// Everything that is heard of stream tasks, in order.
final class StreamLog: URLSessionStreamDelegate, URLSessionDataDelegate {
    enum Event: Hashable, Sendable {
        case response(Int)
        case became
        case read(String, isAtEnd: Bool)
        case readFailed(Int, String?)
        case wrote
        case writeFailed(Int)
        case readClosed
        case writeClosed
        case streams
        case completed(Int?)
    }

    let events = Watched<[Event]>([])
    let error = Lock<URLError?>(nil)
    let became = Watched<URLSessionStreamTask?>(nil)
    /// Uses the streams where they are handed over, and returns what was read.
    private let use: @Sendable (InputStream, OutputStream) -> Void

    init(use: @escaping @Sendable (InputStream, OutputStream) -> Void = { _, _ in }) {
        self.use = use
    }

    func note(_ event: Event) {
        events.change { $0.append(event) }
    }

    /// Waits for the end, and returns everything.
    @discardableResult
    func finished(seconds: Int = 10) async throws -> [Event] {
        try await events.wait("the end of a stream", seconds: seconds) { events in
            events.contains { if case .completed = $0 { true } else { false } }
        }
    }

    // MARK: - Asking, with the answers written down

    func read(_ task: URLSessionStreamTask, _ minimum: Int, _ maximum: Int, timeout: TimeInterval = 0) {
        task.readData(ofMinLength: minimum, maxLength: maximum, timeout: timeout) { [self] data, isAtEnd, error in
            let text = data.map { String(decoding: $0, as: UTF8.self) }
            if let error = error as? URLError {
                note(.readFailed(error.code.rawValue, text))
            } else {
                note(.read(text ?? "nothing", isAtEnd: isAtEnd))
            }
        }
    }

    func write(_ task: URLSessionStreamTask, _ text: String, timeout: TimeInterval = 0) {
        task.write(Data(text.utf8), timeout: timeout) { [self] error in
            note((error as? URLError).map { .writeFailed($0.code.rawValue) } ?? .wrote)
        }
    }

    // MARK: - The delegate

    func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) { note(.readClosed) }
    func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) { note(.writeClosed) }

    func urlSession(
        _ session: URLSession,
        streamTask: URLSessionStreamTask,
        didBecome inputStream: InputStream,
        outputStream: OutputStream
    ) {
        note(.streams)
        use(inputStream, outputStream)
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        note(.response((response as? HTTPURLResponse)?.statusCode ?? 0))
        completionHandler(.becomeStream)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask) {
        note(.became)
        became.change { $0 = streamTask }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        self.error.withLock { $0 = error as? URLError }
        note(.completed((error as? URLError)?.code.rawValue))
    }
}
