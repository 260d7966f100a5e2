import AFURLSession
import Foundation
import Harness

/// A delegate that starts the next task whenever one is complete, and counts what arrives
/// unless it hears of the end of tasks only.
final class DelegateClient: Client {
    private let listener: EndListener
    private let session: URLSession

    init(_ bench: Bench, hearsData: Bool = true) {
        listener = hearsData ? DataListener(bench) : EndListener(bench)
        session = bench.session(delegate: listener)
    }

    func load(_ url: URL, inFlight: Int, _ tally: Tally) {
        listener.starter.begin(url, inFlight: inFlight, tally, on: session)
    }
}

private class EndListener: URLSessionTaskDelegate, @unchecked Sendable {
    let starter: TaskStarter

    init(_ bench: Bench) { starter = TaskStarter(bench) }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        starter.finish(task, error, on: session)
    }
}

private final class DataListener: EndListener, URLSessionDataDelegate, @unchecked Sendable {
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        starter.count(data)
    }
}

/// Starts the tasks of a session one after the other.
///
/// A session numbers its tasks from 1 on: that is where the number of a request
/// comes from, without a table. The state changes between runs only, while no task runs.
final class TaskStarter: @unchecked Sendable {
    private let bench: Bench
    private var request: URLRequest?
    private var tally: Tally?
    private var firstIdentifier = 1

    init(_ bench: Bench) { self.bench = bench }

    func begin(_ url: URL, inFlight: Int, _ tally: Tally, on session: URLSession) {
        firstIdentifier += self.tally?.total ?? 0
        (request, self.tally) = (URLRequest(url: url), tally)
        for _ in 0..<inFlight { startNext(tally, on: session) }
    }

    private func startNext(_ tally: Tally, on session: URLSession) {
        guard tally.claim() != nil, let request else { return }
        let task = session.dataTask(with: request)
        tally.start(task.taskIdentifier - firstIdentifier)
        task.resume()
    }

    func count(_ data: Data) { tally?.count(data.count) }

    func finish(_ task: URLSessionTask, _ error: (any Error)?, on session: URLSession) {
        bench.check(task.response, error)
        guard let tally else { return }
        tally.finish(task.taskIdentifier - firstIdentifier)
        startNext(tally, on: session)
    }
}
