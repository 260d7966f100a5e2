public import Foundation

/// Hears about a session. Every method has an implementation that does nothing.
///
/// Methods with an answer exist twice, with a completion handler and `async`: implement one of the two. The session
/// calls an `async` method on the delegate queue like all others, and it goes on where Swift resumes it. If you
/// implement both, the session calls the one with the completion handler.
///
/// The session calls all methods on its delegate queue. It holds its delegate strongly until it has become invalid.
@preconcurrency
public protocol URLSessionDelegate: AnyObject, Sendable {
    /// The session will make no more callbacks: this is the last one. `error` is nil: you invalidated the session.
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)

    /// A server shows its certificates, or asks for yours, in a handshake that waits for the answer; the session sends
    /// nothing meanwhile. Call `completionHandler` once, from any thread, within `decisionTimeout` of the session's
    /// `tls`.
    ///
    /// To trust the server of `challenge.protectionSpace.serverTrust`, whatever the standard evaluation says, answer
    /// `.useCredential` with `URLCredential(trust:)` of exactly that trust. `.performDefaultHandling` is the standard
    /// evaluation. The session does not ask about a server that a ``/AFTransport/TLSConfiguration/evaluator`` has
    /// refused. Without this method it asks ``URLSessionTaskDelegate``.
    func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    )

    /// The same as an `async` method.
    func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)
}

/// Hears about the tasks of a session, or about one task (``URLSessionTask/delegate``).
///
/// For each task, in this order and one at a time: upload progress, response, data
/// (data tasks), metrics, completion. Nothing follows the completion.
@preconcurrency
public protocol URLSessionTaskDelegate: URLSessionDelegate {
    /// The task has ended: without an error if it received a whole response, whatever its status. Called exactly once,
    /// last.
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)

    /// As the session's method of this name, for a task. The session asks it about servers and identities only if its
    /// own delegate has no method for them.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    )

    /// The same as an `async` method.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)

    /// The earliest date of a task has come (``URLSessionTask/earliestBeginDate``). The task waits until you call
    /// `completionHandler`: once, from any thread; further calls do nothing.
    ///
    /// - Parameters:
    ///   - session: The session of the task.
    ///   - task: The task that begins now.
    ///   - request: The request that the session would send.
    ///   - completionHandler: Takes what to do, and for `.useNewRequest` the request to send instead. It goes with the
    ///   task's own body, if the task has one. A download that resumes asks for the rest of what that request asks for.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    )

    /// The same as an `async` method.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willBeginDelayedRequest request: URLRequest
    ) async -> (URLSession.DelayedRequestDisposition, URLRequest?)

    /// There is no network, and the task waits for one, as ``URLSessionConfiguration/waitsForConnectivity`` asks for.
    /// Called once at most, however often the task has to wait.
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)

    /// The server has sent an interim response (1xx) in front of the response itself: ``/AFURLTypes/HTTPURLResponse/links``
    /// of one with the status 103 lead to what the response will need. The task does not wait. Called for each one but 101,
    /// in order, also in front of a redirect; 16 for each response, or the task fails.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceiveInformationalResponse response: HTTPURLResponse
    )

    /// The server redirects the task. The task waits until you call `completionHandler`: once, from any thread; further
    /// calls do nothing.
    ///
    /// - Parameters:
    ///   - session: The session of the task.
    ///   - task: The task that the server redirects.
    ///   - response: The redirect.
    ///   - request: The request that the session would send, without anything that must not follow to another origin.
    ///   Answering with it also allows what ``/AFURLTypes/RedirectPolicy/sendsBodyToOtherOrigins`` would not.
    ///   - completionHandler: Takes the request to send: the one given, or another. With nil the redirect, with its
    ///   body, is the task's response.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    )

    /// The same as an `async` method.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest?

    /// The session has handed more of the request body to the network. Progress made while you were busy comes as one
    /// call.
    ///
    /// - Parameters:
    ///   - session: The session of the task.
    ///   - task: The task that the body belongs to.
    ///   - bytesSent: Bytes since the last call.
    ///   - totalBytesSent: Bytes since the beginning.
    ///   - totalBytesExpectedToSend: `NSURLSessionTransferSizeUnknown` for a stream without a `Content-Length`.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    )

    /// The session needs a stream for the body of `task`: before a task of `uploadTask(withStreamedRequest:)` begins,
    /// and whenever it has to send a body from a stream again from its beginning. Call `completionHandler` once, from
    /// any thread, with a stream that is not open; further calls do nothing. Without a stream the task fails with
    /// `URLError.requestBodyStreamExhausted`, unless it is the first time and the request has a stream of its own. The
    /// default implementation answers nil.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    )

    /// The same as an `async` method.
    func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream?

    /// When each phase of the task happened. Called once for each task that was resumed, right before its completion:
    /// that of the delegate, the completion handler, or the return of the call that awaits it. A task that was
    /// cancelled before it looked for a connection has metrics without transactions.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didFinishCollecting metrics: URLSessionTaskMetrics
    )
}

/// Receives the responses of data tasks that have no completion handler.
@preconcurrency
public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    /// The head of the response has arrived. The task waits, and makes the server wait, until you call
    /// `completionHandler`: once, from any thread; further calls do nothing. The default implementation answers
    /// `.allow`.
    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    )

    /// The same as an `async` method.
    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition

    /// A download task has taken the place of the data task, as the delegate asked for. The data task has ended, and
    /// the session makes no more calls for it; those for the download task come after this.
    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didBecome downloadTask: URLSessionDownloadTask
    )

    /// A stream task has taken the place of the data task, as the delegate asked for. The data task has ended, and the
    /// session makes no more calls for it; those for the stream task come after this.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask)

    /// The response is complete, and the session would store it in the cache. Call `completionHandler` once, from any
    /// thread, with the response to store: the proposal, another response, or nil for none. The task completes when it
    /// is stored: until you answer it waits, as long as its time lasts. Fields that you add count: with `Cache-Control`
    /// you can set for how long a response is good that does not say so itself. The session does not ask about
    /// responses that come from the cache, or must not be stored.
    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    )

    /// The same as an `async` method.
    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse?

    /// Part of the body. While this runs, the session reads at most 256 KiB ahead.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
}

extension URLSessionDelegate {
    /// Does nothing.
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {}

    /// Calls the `async` method.
    public func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        DefaultCall.of(.receivedSessionChallenge, on: self) {
            Task.immediate {
                let (disposition, credential) = await urlSession(session, didReceive: challenge)
                completionHandler(disposition, credential)
            }
        }
    }

    /// Leaves the challenge to the delegate's task-level method.
    public func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        session.noteDefault(.receivedSessionChallenge, of: self)
        return (.performDefaultHandling, .unanswered)
    }
}

extension URLSessionTaskDelegate {
    /// Does nothing.
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        session.noteMissing(.completed, in: self)
    }

    /// Calls the `async` method.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        DefaultCall.of(.receivedTaskChallenge, on: self) {
            Task.immediate {
                let (disposition, credential) = await urlSession(session, task: task, didReceive: challenge)
                completionHandler(disposition, credential)
            }
        }
    }

    /// Leaves the challenge to the standard handling.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        session.noteDefault(.receivedTaskChallenge, of: self)
        return (.performDefaultHandling, .unanswered)
    }

    /// Calls the `async` method.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        DefaultCall.of(.willBeginDelayed, on: self) {
            Task.immediate {
                let (disposition, other) = await urlSession(session, task: task, willBeginDelayedRequest: request)
                completionHandler(disposition, other)
            }
        }
    }

    /// Answers `.continueLoading`.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willBeginDelayedRequest request: URLRequest
    ) async -> (URLSession.DelayedRequestDisposition, URLRequest?) {
        session.noteDefault(.willBeginDelayed, of: self)
        return (.continueLoading, nil)
    }

    /// Does nothing.
    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        session.noteMissing(.waitsForConnectivity, in: self)
    }

    /// Does nothing.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        session.noteMissing(.receivedInterim, in: self)
    }

    /// Calls the `async` method.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        DefaultCall.of(.willRedirect, on: self) {
            Task.immediate {
                completionHandler(
                    await urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: request)
                )
            }
        }
    }

    /// Leaves the decision to the session's ``/AFURLTypes/RedirectPolicy``.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        session.noteDefault(.willRedirect, of: self)
        return .unanswered
    }

    /// Does nothing.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        session.noteMissing(.sentBody, in: self)
    }

    /// Calls the `async` method.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        DefaultCall.of(.needsBodyStream, on: self) {
            Task.immediate { completionHandler(await urlSession(session, needNewBodyStreamForTask: task)) }
        }
    }

    /// Answers nil: no stream.
    public func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream? {
        session.noteDefault(.needsBodyStream, of: self)
        return nil
    }

    /// Does nothing.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        session.noteMissing(.collectedMetrics, in: self)
    }
}

extension URLSessionDataDelegate {
    /// Calls the `async` method.
    public func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        DefaultCall.of(.receivedResponse, on: self) {
            Task.immediate { completionHandler(await urlSession(session, dataTask: dataTask, didReceive: response)) }
        }
    }

    /// Answers `.allow`.
    public func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition {
        session.noteDefault(.receivedResponse, of: self)
        return .allow
    }

    /// Does nothing.
    public func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didBecome downloadTask: URLSessionDownloadTask
    ) {
        session.noteMissing(.becameDownload, in: self)
    }

    /// Does nothing.
    public func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didBecome streamTask: URLSessionStreamTask
    ) {
        session.noteMissing(.becameStream, in: self)
    }

    /// Calls the `async` method.
    public func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        DefaultCall.of(.willCacheResponse, on: self) {
            Task.immediate {
                completionHandler(await urlSession(session, dataTask: dataTask, willCacheResponse: proposedResponse))
            }
        }
    }

    /// Answers with the proposal.
    public func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse? {
        session.noteDefault(.willCacheResponse, of: self)
        return proposedResponse
    }

    /// Does nothing: the data is lost.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        session.noteMissing(.receivedData, in: self)
    }
}

extension URLSession {
    /// What to do about a challenge.
    @nonexhaustive
    public enum AuthChallengeDisposition: Int, Sendable {
        /// Use the credential; without one, go on without.
        case useCredential = 0
        /// Do what happens without a delegate.
        case performDefaultHandling = 1
        /// Fail the task with `URLError.cancelled`.
        case cancelAuthenticationChallenge = 2
        /// Try another method, if the server offers one.
        case rejectProtectionSpace = 3
    }
}
