import AFURLSession
import Foundation
import Harness

/// Completion handlers, each of which starts the next request.
final class CompletionClient: Client {
    /// What each task asks for.
    enum Requests {
        /// All tasks have one request.
        case same
        /// Each has a URL and a request of its own, as most programs make them, for the same resource.
        case own
        /// Each asks for another resource.
        case other
    }

    private let bench: Bench
    let session: URLSession
    private let requests: Requests

    init(_ bench: Bench, _ requests: Requests = .same) {
        self.bench = bench
        self.requests = requests
        session = bench.session()
    }

    func load(_ url: URL, inFlight: Int, _ tally: Tally) {
        let (request, text) = (URLRequest(url: url), url.absoluteString)
        for _ in 0..<inFlight { startNext(request, text, tally) }
    }

    private func startNext(_ request: URLRequest, _ text: String, _ tally: Tally) {
        guard let number = tally.claim() else { return }
        tally.start(number)
        let next =
            switch requests {
            case .same: request
            case .own: newRequest(text)
            case .other: otherRequest(text, number)
            }
        let task = session.dataTask(with: next) { data, response, error in
            self.bench.check(response, error)
            tally.count(data?.count ?? 0)
            tally.finish(number)
            self.startNext(request, text, tally)
        }
        task.resume()
    }

    private func otherRequest(_ text: String, _ number: Int) -> URLRequest {
        guard let url = URL(string: "\(text)?\(number)") else { bench.arguments.fail("not a URL: \(text)?\(number)") }
        return URLRequest(url: url)
    }

    private func newRequest(_ text: String) -> URLRequest {
        guard let url = URL(string: text) else { bench.arguments.fail("not a URL: \(text)") }
        var request = URLRequest(url: url)
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        request.setValue("Bearer 0123456789abcdef", forHTTPHeaderField: "Authorization")
        return request
    }
}
