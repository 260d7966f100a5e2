import AFNetworking
import Dispatch
import Foundation
import Harness

/// Verbs of a session manager, whose success closures each start the next request.
final class ManagerClient: Client {
    private let bench: Bench
    private let manager: HTTPSessionManager

    init(_ bench: Bench) {
        self.bench = bench
        manager = HTTPSessionManager(sessionConfiguration: bench.configuration())
        manager.responseSerializer = HTTPResponseSerializer()
        manager.completionQueue = DispatchQueue(label: "bench.completions")
    }

    func load(_ url: URL, inFlight: Int, _ tally: Tally) {
        let text = url.absoluteString
        for _ in 0..<inFlight { startNext(text, tally) }
    }

    private func startNext(_ url: String, _ tally: Tally) {
        guard let number = tally.claim() else { return }
        tally.start(number)
        manager.get(url, parameters: nil) { task, object in
            self.bench.check(task.response, nil)
            tally.count((object as? Data)?.count ?? 0)
            tally.finish(number)
            self.startNext(url, tally)
        } failure: { task, error in
            self.bench.check(task?.response, error)
        }
    }
}
