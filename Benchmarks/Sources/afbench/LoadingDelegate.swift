import AFURLSession
import Foundation
import Synchronization

/// Starts the next task whenever one is complete.
final class LoadingDelegate: URLSessionDataDelegate, Sendable {
    private struct Running {
        var start: UInt64
        var bytes = 0
    }

    private struct State {
        var tally: Tally?
        var whenDone: @Sendable () -> Void = {}
        var running: [Int: Running] = [:]
    }

    private let url: URL
    private let state = Mutex(State())

    init(url: URL) { self.url = url }

    func begin(_ tally: Tally, whenDone: @escaping @Sendable () -> Void) {
        state.withLock { $0 = State(tally: tally, whenDone: whenDone) }
    }

    func startNext(on session: URLSession) {
        guard let tally = state.withLock({ $0.tally }), tally.claim() else { return }
        let start = Usage.nanoseconds()
        let task = session.dataTask(with: URLRequest(url: url))
        state.withLock { $0.running[task.taskIdentifier] = Running(start: start) }
        task.resume()
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        state.withLock { $0.running[dataTask.taskIdentifier]?.bytes += data.count }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        Loader.check(task.response, error)
        let (tally, running, whenDone) = state.withLock { state in
            (state.tally, state.running.removeValue(forKey: task.taskIdentifier), state.whenDone)
        }
        guard let tally, let running else { return }
        if tally.add(since: running.start, bytes: running.bytes) { whenDone() } else { startNext(on: session) }
    }
}

/// Hears of the end of tasks only.
final class DiscardingDelegate: URLSessionTaskDelegate, Sendable {
    private let listener: LoadingDelegate

    init(_ listener: LoadingDelegate) { self.listener = listener }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        listener.urlSession(session, task: task, didCompleteWithError: error)
    }
}
