import AFURLSession
import Foundation
import Harness

/// Callers that wait for each answer, a thread for each request in flight.
final class BlockingClient: Client {
    private let bench: Bench

    init(_ bench: Bench) {
        self.bench = bench
        bench.chooseSharedCache()
    }

    func load(_ url: URL, inFlight: Int, _ tally: Tally) {
        for _ in 0..<inFlight { Thread.detachNewThread { self.loadAll(URLRequest(url: url), tally) } }
    }

    private func loadAll(_ request: URLRequest, _ tally: Tally) {
        while let number = tally.claim() {
            tally.start(number)
            do {
                var response: URLResponse?
                let data = try URLConnection.sendSynchronousRequest(request, returning: &response)
                bench.check(response, nil)
                tally.count(data.count)
            } catch {
                bench.check(nil, error)
            }
            tally.finish(number)
        }
    }
}
