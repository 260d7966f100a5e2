import AFBase
import AFLoop
import AFTransport
import Foundation

/// Hears, on the network thread, the events of a connection's task, and passes them on to the connection.
///
/// There is one class of it for each class of delegates: sessions remember which classes of delegates lack a method,
/// and this is their delegate.
final class ConnectionDelegateProxy<Delegate: AnyObject>: ConnectionSessionDelegate {
    private let core: ConnectionCore
    let trustJudge: TrustJudge

    init(core: ConnectionCore, judge: TrustJudge) {
        self.core = core
        trustJudge = judge
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        core.receive(response)
        // See `SessionSettings.allowsEveryResponse`.
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        core.receive(data, of: dataTask)
    }

    var decidesOnCaching: Bool { core.decidesOnCaching }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        core.post(.willCache(proposedResponse, answer: completionHandler))
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        // As in Apple's loader: try the credential of the URL or the storage before asking the delegate.
        if challenge.previousFailureCount == 0, challenge.proposedCredential != nil {
            return completionHandler(.performDefaultHandling, nil)
        }
        let isAnswered = Lock(false)
        let sender = CompletionSender { [core] disposition, credential in
            let isFirst = isAnswered.withLock { isAnswered in
                defer { isAnswered = true }
                return !isAnswered
            }
            guard isFirst else { return }
            if disposition == .cancelAuthenticationChallenge { core.noteRefusal() }
            completionHandler(disposition, credential)
        }
        core.post(.challenge(URLAuthenticationChallenge(authenticationChallenge: challenge, sender: sender)))
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        core.post(.redirect(request, response, answer: completionHandler))
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        core.post(.sent(bytesSent, total: totalBytesSent, expected: totalBytesExpectedToSend))
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        let request = task.currentRequest ?? core.originalRequest
        core.post(.needsStream(request, answer: completionHandler))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        core.receiveEnd(error)
    }

    // MARK: - Downloads

    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
        // The task's completion handler keeps the file.
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        core.post(.wrote(bytesWritten, total: totalBytesWritten, expected: totalBytesExpectedToWrite))
    }

    func downloadTask(_ request: URLRequest, in session: URLSession) -> URLSessionTask {
        let world = session.world
        return session.makeDownloadTask(
            request,
            fileReceiver: .waiter { [self] url, _, error in
                guard let url else { return core.receiveEnd(error ?? URLError(.unknown)) }
                core.post(.downloaded(ConnectionFile(url: url, in: world)))
                core.post(.finished)
            }
        )
    }
}

/// A `ConnectionDelegateProxy` for any class of delegates.
protocol ConnectionSessionDelegate: URLSessionDataDelegate, URLSessionDownloadDelegate, TrustJudging, CachingDelegate {
    func downloadTask(_ request: URLRequest, in session: URLSession) -> URLSessionTask
}

extension ConnectionDelegateProxy where Delegate == ConnectionCore {
    /// Makes one of the class that belongs to the delegate's class.
    static func make(
        for delegate: (any URLConnectionDelegate)?,
        core: ConnectionCore,
        judge: TrustJudge
    ) -> any ConnectionSessionDelegate {
        guard let delegate else { return ConnectionDelegateProxy<ConnectionCore>(core: core, judge: judge) }
        return opened(delegate, core: core, judge: judge)
    }

    private static func opened<Kind: URLConnectionDelegate>(
        _ delegate: Kind,
        core: ConnectionCore,
        judge: TrustJudge
    ) -> any ConnectionSessionDelegate {
        ConnectionDelegateProxy<Kind>(core: core, judge: judge)
    }
}
