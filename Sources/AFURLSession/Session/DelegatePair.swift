import AFBase
import AFTransport
import Foundation

/// A task's own delegate and the session's, as one: it calls each method of the own one if that has it, and of the
/// session's otherwise.
///
/// The pair knows whether a class has a method once it has called it: the default implementation reports itself before
/// it does anything else (``OptionalMethods``). Used on the delegate queue, and by one task only.
final class DelegatePair: Sendable {
    let own: any URLSessionTaskDelegate
    let shared: any URLSessionDelegate
    private let session: URLSession

    init(own: any URLSessionTaskDelegate, shared: any URLSessionDelegate, in session: URLSession) {
        self.own = own
        self.shared = shared
        self.session = session
    }

    /// Whether one of the two is a delegate of this kind.
    func has<Kind>(_ kind: Kind.Type) -> Bool { own is Kind || shared is Kind }

    /// Calls a method without an answer.
    func tell<Kind>(_ method: OptionalMethod, kind: Kind.Type, call: (Kind) -> Void) {
        if let own = own as? Kind, !session.isMissing(method, in: self.own) {
            call(own)
            guard session.isMissing(method, in: self.own) else { return }
        }
        guard let shared = shared as? Kind, !session.isMissing(method, in: self.shared) else { return }
        call(shared)
    }

    /// Calls a method with one answer or several.
    ///
    /// - Parameters:
    ///   - usual: The answer if neither delegate has the method.
    ///   - answer: Takes the answers.
    ///   - call: Calls the method with the closure that takes its answers.
    private func ask<Kind, Answer>(
        _ method: OptionalMethod,
        kind: Kind.Type,
        usual: Answer,
        answer: @escaping @Sendable (Answer) -> Void,
        call: @escaping @Sendable (Kind, @escaping @Sendable (Answer) -> Void) -> Void
    ) where Answer: Sendable {
        guard let own = own as? Kind, !session.isMissing(method, in: self.own) else {
            return askShared(method, usual: usual, answer: answer, call: call)
        }
        // A delegate without the method answers at once. One that keeps the closure keeps neither the pair alive nor
        // what it was asked about.
        let next = Lock<Next<Kind, Answer>?>(Next(call: call))
        call(own) { [weak self] given in
            guard let self, let next = next.withLock({ $0 }), session.isMissing(method, in: self.own) else {
                return answer(given)
            }
            askShared(method, usual: usual, answer: answer, call: next.call)
        }
        next.withLock { $0 = nil }
    }

    /// The call of the session's delegate.
    private struct Next<Kind, Answer>: Sendable {
        let call: @Sendable (Kind, @escaping @Sendable (Answer) -> Void) -> Void
    }

    private func askShared<Kind, Answer>(
        _ method: OptionalMethod,
        usual: Answer,
        answer: @escaping @Sendable (Answer) -> Void,
        call: (Kind, @escaping @Sendable (Answer) -> Void) -> Void
    ) {
        guard let shared = shared as? Kind, !session.isMissing(method, in: self.shared) else { return answer(usual) }
        call(shared, answer)
    }
}

extension DelegatePair: URLSessionDataDelegate, URLSessionDownloadDelegate, URLSessionStreamDelegate {
    // MARK: - Of tasks

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        tell(.completed, kind: (any URLSessionTaskDelegate).self) {
            $0.urlSession(session, task: task, didCompleteWithError: error)
        }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        typealias Answer = (URLSession.AuthChallengeDisposition, URLCredential?)
        let usual: Answer = (.performDefaultHandling, .unanswered)
        ask(.receivedTaskChallenge, kind: (any URLSessionTaskDelegate).self, usual: usual) {
            completionHandler($0.0, $0.1)
        } call: { delegate, answer in
            delegate.urlSession(session, task: task, didReceive: challenge) { answer(($0, $1)) }
        }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        typealias Answer = (URLSession.DelayedRequestDisposition, URLRequest?)
        let usual: Answer = (.continueLoading, nil)
        ask(.willBeginDelayed, kind: (any URLSessionTaskDelegate).self, usual: usual) {
            completionHandler($0.0, $0.1)
        } call: { delegate, answer in
            delegate.urlSession(session, task: task, willBeginDelayedRequest: request) { answer(($0, $1)) }
        }
    }

    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        tell(.waitsForConnectivity, kind: (any URLSessionTaskDelegate).self) {
            $0.urlSession(session, taskIsWaitingForConnectivity: task)
        }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        tell(.receivedInterim, kind: (any URLSessionTaskDelegate).self) {
            $0.urlSession(session, task: task, didReceiveInformationalResponse: response)
        }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        ask(
            .willRedirect,
            kind: (any URLSessionTaskDelegate).self,
            usual: URLRequest.unanswered as URLRequest?,
            answer: completionHandler
        ) { delegate, answer in
            delegate.urlSession(
                session,
                task: task,
                willPerformHTTPRedirection: response,
                newRequest: request,
                completionHandler: answer
            )
        }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        tell(.sentBody, kind: (any URLSessionTaskDelegate).self) {
            $0.urlSession(
                session,
                task: task,
                didSendBodyData: bytesSent,
                totalBytesSent: totalBytesSent,
                totalBytesExpectedToSend: totalBytesExpectedToSend
            )
        }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        ask(.needsBodyStream, kind: (any URLSessionTaskDelegate).self, usual: HandedStream?.none) {
            completionHandler($0?.stream)
        } call: { delegate, answer in
            delegate.urlSession(session, task: task, needNewBodyStream: { answer($0.map(HandedStream.init)) })
        }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        tell(.collectedMetrics, kind: (any URLSessionTaskDelegate).self) {
            $0.urlSession(session, task: task, didFinishCollecting: metrics)
        }
    }

    // MARK: - Of data tasks

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        ask(.receivedResponse, kind: (any URLSessionDataDelegate).self, usual: .allow, answer: completionHandler) {
            $0.urlSession(session, dataTask: dataTask, didReceive: response, completionHandler: $1)
        }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didBecome downloadTask: URLSessionDownloadTask
    ) {
        tell(.becameDownload, kind: (any URLSessionDataDelegate).self) {
            $0.urlSession(session, dataTask: dataTask, didBecome: downloadTask)
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask) {
        tell(.becameStream, kind: (any URLSessionDataDelegate).self) {
            $0.urlSession(session, dataTask: dataTask, didBecome: streamTask)
        }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        ask(
            .willCacheResponse,
            kind: (any URLSessionDataDelegate).self,
            usual: proposedResponse as CachedURLResponse?,
            answer: completionHandler
        ) {
            $0.urlSession(
                session,
                dataTask: dataTask,
                willCacheResponse: proposedResponse,
                completionHandler: $1
            )
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        tell(.receivedData, kind: (any URLSessionDataDelegate).self) {
            $0.urlSession(session, dataTask: dataTask, didReceive: data)
        }
    }

    // MARK: - Of downloads

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        tell(.finishedDownload, kind: (any URLSessionDownloadDelegate).self) {
            $0.urlSession(session, downloadTask: downloadTask, didFinishDownloadingTo: location)
        }
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        tell(.wroteDownload, kind: (any URLSessionDownloadDelegate).self) {
            $0.urlSession(
                session,
                downloadTask: downloadTask,
                didWriteData: bytesWritten,
                totalBytesWritten: totalBytesWritten,
                totalBytesExpectedToWrite: totalBytesExpectedToWrite
            )
        }
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        tell(.resumedDownload, kind: (any URLSessionDownloadDelegate).self) {
            $0.urlSession(
                session,
                downloadTask: downloadTask,
                didResumeAtOffset: fileOffset,
                expectedTotalBytes: expectedTotalBytes
            )
        }
    }

    // MARK: - Of streams

    func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) {
        tell(.closedReading, kind: (any URLSessionStreamDelegate).self) {
            $0.urlSession(session, readClosedFor: streamTask)
        }
    }

    func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) {
        tell(.closedWriting, kind: (any URLSessionStreamDelegate).self) {
            $0.urlSession(session, writeClosedFor: streamTask)
        }
    }

    func urlSession(
        _ session: URLSession,
        streamTask: URLSessionStreamTask,
        didBecome inputStream: InputStream,
        outputStream: OutputStream
    ) {
        tell(.becameStreams, kind: (any URLSessionStreamDelegate).self) {
            $0.urlSession(session, streamTask: streamTask, didBecome: inputStream, outputStream: outputStream)
        }
    }
}
