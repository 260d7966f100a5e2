import AFURLSession
import Foundation

/// Metrics, redirects, priorities, and the ends of sessions.
final class TaskWatcher: NSObject, URLSessionDataDelegate {
    private let lock = NSLock()
    private var lines: [String] = []
    private var metrics: URLSessionTaskMetrics?
    private let followsRedirects: Bool
    let ended = DispatchSemaphore(value: 0)

    init(followsRedirects: Bool = true) {
        self.followsRedirects = followsRedirects
    }

    var events: [String] {
        lock.lock()
        defer { lock.unlock() }
        return lines
    }

    var collected: URLSessionTaskMetrics? {
        lock.lock()
        defer { lock.unlock() }
        return metrics
    }

    private func note(_ line: String) {
        lock.lock()
        lines.append(line)
        lock.unlock()
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        note("redirect \(response.statusCode) to \(request.url?.path ?? "")")
        completionHandler(followsRedirects ? request : nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        lock.lock()
        self.metrics = metrics
        lock.unlock()
        for transaction in metrics.transactionMetrics {
            note("\(transaction.request.url?.path ?? "") \(transaction.networkProtocolName ?? "?")")
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        note("data \(data.count)")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
        let status = (task.response as? HTTPURLResponse)?.statusCode ?? 0
        note(error.map { "failed \(($0 as NSError).code)" } ?? "completed \(status)")
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: Error?) {
        note("invalid")
        ended.signal()
    }
}

/// An operation for each request, and one that waits for all of them.
final class LoadOperation: Operation, @unchecked Sendable {
    private let session: URLSession
    private let url: URL
    private(set) var size = 0
    private let lock = NSLock()
    private var running = false
    private var done = false

    init(_ url: URL, in session: URLSession) {
        self.url = url
        self.session = session
    }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { lock.withLock { running } }
    override var isFinished: Bool { lock.withLock { done } }

    override func start() {
        guard !isCancelled else { return finish() }
        willChangeValue(forKey: "isExecuting")
        lock.withLock { running = true }
        didChangeValue(forKey: "isExecuting")
        session.dataTask(with: url) { data, _, _ in
            self.size = data?.count ?? 0
            self.finish()
        }.resume()
    }

    private func finish() {
        willChangeValue(forKey: "isExecuting")
        willChangeValue(forKey: "isFinished")
        lock.withLock { (running, done) = (false, true) }
        didChangeValue(forKey: "isFinished")
        didChangeValue(forKey: "isExecuting")
    }
}
