import Foundation
import FoundationNetworking
import Harness

/// A delegate that counts and drops what arrives and starts the next task whenever one is complete.
final class DroppingClient: Client {
    private let listener: Listener
    private let session: URLSession

    init(_ arguments: Arguments) {
        listener = Listener(arguments)
        session = URLSession(configuration: .plain(arguments), delegate: listener, delegateQueue: nil)
    }

    func load(_ url: URL, inFlight: Int, _ tally: Tally) {
        listener.begin(url, tally)
        for _ in 0..<inFlight { listener.startNext(on: session) }
    }
}

/// Its state changes between runs only, while no task runs. A session numbers its tasks from 1 on.
private final class Listener: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let arguments: Arguments
    private var request: URLRequest?
    private var tally: Tally?
    private var firstIdentifier = 1

    init(_ arguments: Arguments) { self.arguments = arguments }

    func begin(_ url: URL, _ tally: Tally) {
        firstIdentifier += self.tally?.total ?? 0
        (request, self.tally) = (URLRequest(url: url), tally)
        if arguments.closes { request?.setValue("close", forHTTPHeaderField: "Connection") }
    }

    func startNext(on session: URLSession) {
        guard let tally, let request, tally.claim() != nil else { return }
        let task = session.dataTask(with: request)
        tally.start(task.taskIdentifier - firstIdentifier)
        task.resume()
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        tally?.count(data.count)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        arguments.check(task.response, error)
        tally?.finish(task.taskIdentifier - firstIdentifier)
        startNext(on: session)
    }
}
