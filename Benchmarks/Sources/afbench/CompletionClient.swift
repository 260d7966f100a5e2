import AFURLSession
import Foundation
import Harness

/// Completion handlers, each of which starts the next request.
final class CompletionClient: Client {
    private let bench: Bench
    private let session: URLSession

    init(_ bench: Bench) {
        self.bench = bench
        session = bench.session()
    }

    func load(_ url: URL, inFlight: Int, _ tally: Tally) {
        let request = URLRequest(url: url)
        for _ in 0..<inFlight { startNext(request, tally) }
    }

    private func startNext(_ request: URLRequest, _ tally: Tally) {
        guard let number = tally.claim() else { return }
        tally.start(number)
        let task = session.dataTask(with: request) { data, response, error in
            self.bench.check(response, error)
            tally.count(data?.count ?? 0)
            tally.finish(number)
            self.startNext(request, tally)
        }
        task.resume()
    }
}
