import AFURLSession
import Foundation

/// The running transfers by their tasks.
@MainActor final class TransferRoster {
    private var transfers: [URLSessionTask: Transfer] = [:]

    nonisolated init() {}

    subscript(task: URLSessionTask) -> Transfer? {
        get { transfers[task] }
        set { transfers[task] = newValue }
    }
}

/// A delegate that passes callbacks on to transfers, on the main queue.
///
/// All transfers share one delegate of each kind, because tasks share connections only with tasks of the same delegate.
protocol TransferListener: URLSessionDataDelegate {
    var roster: TransferRoster { get }
}

/// The delegate of sessions. It has no method for challenges, so that TLS sessions can be resumed.
final class PlainListener: TransferListener {
    let roster: TransferRoster

    init(_ roster: TransferRoster) {
        self.roster = roster
    }
}

/// The delegate of tasks with credentials for challenges.
final class AskedListener: TransferListener {
    let roster: TransferRoster

    init(_ roster: TransferRoster) {
        self.roster = roster
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let (disposition, credential) =
            MainActor.assumeIsolated { roster[task]?.answer(to: challenge) }
            ?? (.performDefaultHandling, nil)
        completionHandler(disposition, credential)
    }
}

/// Both delegates, for all sessions of a run.
struct TransferListeners {
    let plain: PlainListener
    let asked: AskedListener
    private let roster = TransferRoster()

    init() {
        plain = PlainListener(roster)
        asked = AskedListener(roster)
    }

    /// Passes the callbacks of a task on to a transfer until the task completes.
    @MainActor func attach(_ transfer: Transfer, to task: URLSessionTask) {
        roster[task] = transfer
        if transfer.mayAnswerChallenges { task.delegate = asked }
    }
}

extension TransferListener {
    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let isWanted = MainActor.assumeIsolated { roster[dataTask]?.begin(response) ?? false }
        completionHandler(isWanted ? .allow : .cancel)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        MainActor.assumeIsolated { roster[dataTask]?.take(data) }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(MainActor.assumeIsolated { roster[task]?.redirected(by: response, to: request) })
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        MainActor.assumeIsolated { roster[task]?.sent(totalBytesSent, of: totalBytesExpectedToSend) }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        MainActor.assumeIsolated { completionHandler(roster[task]?.newBodyStream) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        MainActor.assumeIsolated { roster[task]?.collected(metrics) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        MainActor.assumeIsolated {
            roster[task]?.completed(with: error)
            roster[task] = nil
        }
    }
}
