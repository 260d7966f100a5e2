import AFURLSession
import Foundation
import Harness

/// The WebSockets of a client, whose server sends every message back, and the message that they carry.
///
/// It changes between runs only: the first run opens what the next ones use again. With `--idle` the second run opens
/// the others, and sends nothing on them.
final class SocketPool: @unchecked Sendable {
    let message: URLSessionWebSocketTask.Message
    private(set) var onlyOpens = false
    private let bench: Bench
    private let size: Int
    private let session: URLSession
    private let listener: OpenListener
    private var tasks: [URLSessionWebSocketTask] = []
    private var runs = 0

    init(_ bench: Bench, _ size: Int) {
        (self.bench, self.size) = (bench, size)
        listener = OpenListener(bench)
        message = .data(Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }))
        session = bench.session(delegate: bench.arguments.isIdle ? listener : nil)
    }

    /// So many WebSockets, for another run. If it only opens them, it is at work on that.
    func tasks(_ count: Int, at url: URL, _ tally: Tally) -> ArraySlice<URLSessionWebSocketTask> {
        runs += 1
        onlyOpens = bench.arguments.isIdle && runs == 2
        listener.tally = onlyOpens ? tally : nil
        for _ in tasks.prefix(count) { listener.count() }
        let former = tasks.count
        while tasks.count < count {
            tasks.append(session.webSocketTask(with: URLRequest(url: url), options: options))
        }
        listener.open(tasks[former...])
        return tasks[..<count]
    }

    private var options: WebSocketOptions {
        var options = WebSocketOptions()
        options.compression = nil
        options.maximumMessageSize = max(size, options.maximumMessageSize)
        return options
    }

    /// Ends the program unless this is as long as the message that was sent.
    func check(_ message: URLSessionWebSocketTask.Message) {
        guard case .data(let data) = message, data.count == size else {
            bench.arguments.fail("not the message that was sent")
        }
    }

    /// Ends the program if there was an error.
    func check(_ error: (any Error)?) {
        if let error { bench.arguments.fail("a WebSocket failed: \(error)") }
    }
}

/// Counts the WebSockets that open, and opens so many at a time, as they come to a program that has thousands.
private final class OpenListener: URLSessionWebSocketDelegate, @unchecked Sendable {
    private static let mostAtOnce = 256

    private let bench: Bench
    private let lock = NSLock()
    private var closed: ArraySlice<URLSessionWebSocketTask> = []
    /// Of a run that only opens. Changes between runs.
    var tally: Tally?

    init(_ bench: Bench) { self.bench = bench }

    func open(_ tasks: ArraySlice<URLSessionWebSocketTask>) {
        // Without a delegate there is no word of what has opened.
        guard bench.arguments.isIdle else { return tasks.forEach { $0.resume() } }
        lock.withLock { closed += tasks }
        for _ in 0..<Self.mostAtOnce { openNext() }
    }

    private func openNext() {
        lock.withLock { closed.popFirst() }?.resume()
    }

    func count() {
        guard let tally, let number = tally.claim() else { return }
        tally.start(number)
        tally.finish(number)
    }

    func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didOpenWithProtocol protocol: String?
    ) {
        openNext()
        count()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        bench.arguments.fail("a WebSocket ended: \(String(describing: error))")
    }
}
