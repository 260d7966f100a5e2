import AFURLSession
import Foundation
import Harness

/// Completion handlers beside a connection that its server floods, in the same session.
final class FloodedClient: Client {
    private let flood: Flood
    private let client: CompletionClient

    init(_ bench: Bench, _ path: String) {
        flood = Flood(bench, path)
        client = CompletionClient(bench)
    }

    func load(_ url: URL, inFlight: Int, _ tally: Tally) {
        flood.begin(beside: url)
        client.load(url, inFlight: inFlight, tally)
    }
}

/// One connection that is flooded. It begins once, and has begun when its server has answered.
private final class Flood: URLSessionDataDelegate, URLSessionWebSocketDelegate, @unchecked Sendable {
    private let bench: Bench
    private let path: String
    private let hasBegun = DispatchSemaphore(value: 0)
    private lazy var session = bench.session(delegate: self)
    private var task: URLSessionTask?

    init(_ bench: Bench, _ path: String) {
        (self.bench, self.path) = (bench, path)
    }

    func begin(beside url: URL) {
        guard task == nil else { return }
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: false) else { return }
        parts.path = "/" + path
        task = path == "chunks" ? dataTask(parts) : webSocketTask(parts)
        task?.resume()
        hasBegun.wait()
    }

    private func dataTask(_ parts: URLComponents) -> URLSessionTask? {
        parts.url.map { session.dataTask(with: URLRequest(url: $0)) }
    }

    /// It waits for a message that never comes.
    private func webSocketTask(_ parts: URLComponents) -> URLSessionTask? {
        var parts = parts
        parts.scheme = "ws"
        let task = parts.url.map { session.webSocketTask(with: URLRequest(url: $0)) }
        task?.receive { [bench] in bench.arguments.fail("a message of a flood: \($0)") }
        return task
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        completionHandler(.allow)
        hasBegun.signal()
    }

    func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didOpenWithProtocol protocol: String?
    ) {
        hasBegun.signal()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        bench.arguments.fail("the flood ended: \(String(describing: error))")
    }
}
