/// A delegate that writes down everything it hears, in order.
final class EventLog: URLSessionDataDelegate {
    enum Event: Hashable {
        case sent(Int64, of: Int64)
        case response(Int)
        case data(String)
        case metrics
        case completed(Int?)
        case invalid
    }

    let events = Watched<[Event]>([])
    let bodies = Lock(Data())
    let metrics = Lock<URLSessionTaskMetrics?>(nil)
    private let disposition: URLSession.ResponseDisposition
    /// Called after an event was written down, where the event was heard.
    private let hook: @Sendable (Event, URLSessionTask?) -> Void

    init(
        disposition: URLSession.ResponseDisposition = .allow,
        hook: @escaping @Sendable (Event, URLSessionTask?) -> Void = { _, _ in }
    ) {
        self.disposition = disposition
        self.hook = hook
    }

    private func note(_ event: Event, _ task: URLSessionTask? = nil) {
        events.change { $0.append(event) }
        hook(event, task)
    }

    /// Waits for the end of so many tasks, and returns everything heard.
    @discardableResult
    func finished(_ count: Int = 1) async throws -> [Event] {
        try await events.wait("\(count) completions") { events in
            events.count { if case .completed = $0 { true } else { false } } >= count
        }
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        note(.invalid)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        note(.completed((error as? URLError)?.code.rawValue), task)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        note(.sent(totalBytesSent, of: totalBytesExpectedToSend), task)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        self.metrics.withLock { $0 = metrics }
        note(.metrics, task)
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        note(.response((response as? HTTPURLResponse)?.statusCode ?? 0), dataTask)
        completionHandler(disposition)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        bodies.withLock { $0.append(data) }
        note(.data(String(decoding: data, as: UTF8.self)), dataTask)
    }
}
