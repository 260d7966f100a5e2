import AFURLSession
import Foundation
import Harness

/// As many Swift tasks as requests in flight, each loading one after the other.
final class AsyncClient: Client {
    private let bench: Bench
    private let session: URLSession

    init(_ bench: Bench) {
        self.bench = bench
        session = bench.session()
    }

    func load(_ url: URL, inFlight: Int, _ tally: Tally) {
        let request = URLRequest(url: url)
        for _ in 0..<inFlight { Task { await loadInTurn(request, tally) } }
    }

    private func loadInTurn(_ request: URLRequest, _ tally: Tally) async {
        while let number = tally.claim() {
            tally.start(number)
            do {
                let (data, response) = try await session.data(for: request)
                bench.check(response, nil)
                tally.count(data.count)
            } catch {
                bench.check(nil, error)
            }
            tally.finish(number)
        }
    }
}
