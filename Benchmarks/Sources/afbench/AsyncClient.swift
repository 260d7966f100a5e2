import AFURLSession
import Foundation
import Harness

/// As many Swift tasks as requests in flight, each loading one after the other.
final class AsyncClient: Client {
    private let loop: AsyncLoop

    init(_ bench: Bench) { loop = AsyncLoop(bench) }

    func load(_ url: URL, inFlight: Int, _ tally: Tally) {
        for _ in 0..<inFlight { Task { await self.loop.load(url, tally) } }
    }
}

/// The same, with tasks that run on the network thread.
final class ExecutorClient: Client {
    private let loop: AsyncLoop

    init(_ bench: Bench) { loop = AsyncLoop(bench) }

    func load(_ url: URL, inFlight: Int, _ tally: Tally) {
        for _ in 0..<inFlight {
            Task(executorPreference: URLSession.networkExecutor) { await self.loop.load(url, tally) }
        }
    }
}

private struct AsyncLoop: Sendable {
    private let bench: Bench
    private let session: URLSession

    init(_ bench: Bench) {
        self.bench = bench
        session = bench.session()
    }

    func load(_ url: URL, _ tally: Tally) async {
        let request = URLRequest(url: url)
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
