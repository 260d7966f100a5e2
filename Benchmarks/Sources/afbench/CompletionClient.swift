import AFURLSession
import Foundation
import Harness

/// Completion handlers, each of which starts the next request.
final class CompletionClient: Client {
    private let bench: Bench
    private let session: URLSession
    /// Whether each task has a URL and a request of its own, as most programs make them. Otherwise all have the same.
    private let makesRequests: Bool

    init(_ bench: Bench, makesRequests: Bool = false, caches: Bool = false) {
        self.bench = bench
        self.makesRequests = makesRequests
        let configuration = bench.configuration()
        if caches { configuration.urlCache = URLCache(memoryCapacity: 4 << 20, diskCapacity: 0) }
        session = URLSession(configuration: configuration)
    }

    func load(_ url: URL, inFlight: Int, _ tally: Tally) {
        let (request, text) = (URLRequest(url: url), url.absoluteString)
        for _ in 0..<inFlight { startNext(request, text, tally) }
    }

    private func startNext(_ request: URLRequest, _ text: String, _ tally: Tally) {
        guard let number = tally.claim() else { return }
        tally.start(number)
        let task = session.dataTask(with: makesRequests ? newRequest(text) : request) { data, response, error in
            self.bench.check(response, error)
            tally.count(data?.count ?? 0)
            tally.finish(number)
            self.startNext(request, text, tally)
        }
        task.resume()
    }

    private func newRequest(_ text: String) -> URLRequest {
        guard let url = URL(string: text) else { bench.arguments.fail("not a URL: \(text)") }
        var request = URLRequest(url: url)
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        request.setValue("Bearer 0123456789abcdef", forHTTPHeaderField: "Authorization")
        return request
    }
}
