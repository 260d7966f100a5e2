import AFURLSession
import Foundation

/// Hears what the session says of a transfer, on the main queue.
protocol TransferListener: URLSessionDataDelegate, Sendable {
    var transfer: Transfer { get }
}

/// For those who have no answer to challenges: a session whose servers nobody is asked about can resume handshakes.
final class PlainListener: TransferListener {
    let transfer: Transfer

    init(_ transfer: Transfer) {
        self.transfer = transfer
    }
}

/// For those who are somebody to servers and proxies that ask.
final class AskedListener: TransferListener {
    let transfer: Transfer
    private let identity: Identity

    init(_ transfer: Transfer, _ identity: Identity) {
        self.transfer = transfer
        self.identity = identity
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let (disposition, credential) = identity.answer(to: challenge)
        completionHandler(disposition, credential)
    }
}

extension TransferListener {
    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let isWanted = MainActor.assumeIsolated { transfer.begin(response) }
        completionHandler(isWanted ? .allow : .cancel)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        MainActor.assumeIsolated { transfer.take(data) }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(MainActor.assumeIsolated { transfer.redirected(by: response, to: request) })
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        MainActor.assumeIsolated { transfer.sent(totalBytesSent, of: totalBytesExpectedToSend) }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        MainActor.assumeIsolated { completionHandler(transfer.newBodyStream) }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        MainActor.assumeIsolated { transfer.collected(metrics) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        MainActor.assumeIsolated { transfer.completed(with: error) }
    }
}
