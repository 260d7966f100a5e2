import AFBase
public import Foundation

// Closures in the place of delegate methods. The manager calls each on its `operationQueue`, after its own work.

extension URLSessionManager {
    private func change(_ body: (inout SessionHooks) -> Void) {
        // Release replaced closures after the lock: their deinit may run the program's code.
        let (session, _) = state.withLock { state in
            let former = state.hooks
            body(&state.hooks)
            return (state.session, former)
        }
        if let session { applyHooks(to: session) }
        trust.apply()
    }

    /// Tells the session which delegate methods it need not call.
    func applyHooks(to session: URLSession) {
        if mayHaveOverrides { return }
        // Written under the lock: otherwise a thread that read earlier could write later.
        state.withLock { state in
            session.ignoredDelegateMethods = state.hooks.unused
            session.receiversTakeResponses = state.hooks.dataTaskDidReceiveData == nil
        }
    }

    // MARK: - Of the session

    /// Sets what is called when the session has become invalid, before `urlSessionDidInvalidate` is posted.
    @preconcurrency
    public func setSessionDidBecomeInvalidBlock(_ block: SessionDidBecomeInvalid?) {
        change { $0.sessionDidBecomeInvalid = block }
    }

    /// Sets what answers challenges that concern the whole session: a server's certificate, and a server's request for
    /// a client certificate.
    ///
    /// Without it, the handler of `setAuthenticationChallengeHandler(_:)` answers them. If the block answers
    /// `.performDefaultHandling`, ``securityPolicy`` decides about servers. A policy that pins decides before the block
    /// is called.
    @preconcurrency
    public func setSessionDidReceiveAuthenticationChallengeBlock(_ block: SessionDidReceiveChallenge?) {
        change { $0.sessionDidReceiveChallenge = block }
    }

    // MARK: - Of tasks

    /// Sets what returns the body stream of a task that sends it, or sends it again, from its beginning. Without it,
    /// the manager copies the request's stream, if it can be copied, as those of multipart requests can.
    @preconcurrency
    public func setTaskNeedNewBodyStreamBlock(_ block: TaskNeedNewBodyStream?) {
        change { $0.taskNeedNewBodyStream = block }
    }

    /// Sets what returns the next request of a redirected task. Without it the session's
    /// ``/AFURLTypes/RedirectPolicy`` decides.
    @preconcurrency
    public func setTaskWillPerformHTTPRedirectionBlock(_ block: TaskWillRedirect?) {
        change { $0.taskWillRedirect = block }
    }

    /// Sets what answers the challenges of tasks, and those of the session unless
    /// ``setSessionDidReceiveAuthenticationChallengeBlock(_:)`` has set a block for them.
    ///
    /// With `.fail` the task's completion handler receives the error given. With `.performDefaultHandling`,
    /// ``securityPolicy`` decides about servers; if it refuses one, the completion handler receives an error with the
    /// code `serverCertificateUntrusted`. A policy that pins decides before the handler is called.
    @preconcurrency
    public func setAuthenticationChallengeHandler(_ handler: AuthenticationChallengeHandler?) {
        change { $0.authenticationChallenge = handler }
    }

    /// Sets what receives how much of a body was sent. If the session knows no total, it is that of the request's
    /// `Content-Length`.
    @preconcurrency
    public func setTaskDidSendBodyDataBlock(_ block: TaskDidSendBodyData?) {
        change { $0.taskDidSendBodyData = block }
    }

    /// Sets what is called when a task has ended, usually before its completion handler.
    @preconcurrency
    public func setTaskDidCompleteBlock(_ block: TaskDidComplete?) {
        change { $0.taskDidComplete = block }
    }

    /// Sets what receives the metrics of each task, right before it ends.
    @preconcurrency
    public func setTaskDidFinishCollectingMetricsBlock(_ block: TaskDidFinishCollectingMetrics?) {
        change { $0.taskDidFinishCollectingMetrics = block }
    }

    // MARK: - Of data tasks

    /// Sets what decides about the response of a data task. Without it all are allowed.
    @preconcurrency
    public func setDataTaskDidReceiveResponseBlock(_ block: DataTaskDidReceiveResponse?) {
        change { $0.dataTaskDidReceiveResponse = block }
    }

    /// Sets what is called when a download task takes the place of a data task, as the block above may ask for. The
    /// download takes over the data task's completion handler.
    @preconcurrency
    public func setDataTaskDidBecomeDownloadTaskBlock(_ block: DataTaskDidBecomeDownloadTask?) {
        change { $0.dataTaskDidBecomeDownloadTask = block }
    }

    /// Sets what receives the bodies of data tasks piece by piece. Completion handlers still get the whole bodies.
    @preconcurrency
    public func setDataTaskDidReceiveDataBlock(_ block: DataTaskDidReceiveData?) {
        change { $0.dataTaskDidReceiveData = block }
    }

    /// Sets what decides about caching a response.
    @preconcurrency
    public func setDataTaskWillCacheResponseBlock(_ block: DataTaskWillCacheResponse?) {
        change { $0.dataTaskWillCacheResponse = block }
    }

    // MARK: - Of downloads

    /// Sets what returns where the manager moves the file of a download. It is asked before the task's own destination;
    /// if it returns nil, that one is asked.
    @preconcurrency
    public func setDownloadTaskDidFinishDownloadingBlock(_ block: DownloadTaskDidFinishDownloading?) {
        change { $0.downloadTaskDidFinishDownloading = block }
    }

    /// Sets what receives how much of a download was written.
    @preconcurrency
    public func setDownloadTaskDidWriteDataBlock(_ block: DownloadTaskDidWriteData?) {
        change { $0.downloadTaskDidWriteData = block }
    }

    /// Sets what is called when a download continues where another one ended.
    @preconcurrency
    public func setDownloadTaskDidResumeBlock(_ block: DownloadTaskDidResume?) {
        change { $0.downloadTaskDidResume = block }
    }
}

/// The closures that a manager calls in the place of delegate methods.
struct SessionHooks: Sendable {
    var sessionDidBecomeInvalid: URLSessionManager.SessionDidBecomeInvalid?
    var sessionDidReceiveChallenge: URLSessionManager.SessionDidReceiveChallenge? { didSet { challengeChanges += 1 } }
    var taskNeedNewBodyStream: URLSessionManager.TaskNeedNewBodyStream?
    var taskWillRedirect: URLSessionManager.TaskWillRedirect?
    var authenticationChallenge: URLSessionManager.AuthenticationChallengeHandler? { didSet { challengeChanges += 1 } }
    var taskDidSendBodyData: URLSessionManager.TaskDidSendBodyData?
    var taskDidComplete: URLSessionManager.TaskDidComplete?
    var taskDidFinishCollectingMetrics: URLSessionManager.TaskDidFinishCollectingMetrics?
    var dataTaskDidReceiveResponse: URLSessionManager.DataTaskDidReceiveResponse?
    var dataTaskDidBecomeDownloadTask: URLSessionManager.DataTaskDidBecomeDownloadTask?
    var dataTaskDidReceiveData: URLSessionManager.DataTaskDidReceiveData?
    var dataTaskWillCacheResponse: URLSessionManager.DataTaskWillCacheResponse?
    var downloadTaskDidFinishDownloading: URLSessionManager.DownloadTaskDidFinishDownloading?
    var downloadTaskDidWriteData: URLSessionManager.DownloadTaskDidWriteData?
    var downloadTaskDidResume: URLSessionManager.DownloadTaskDidResume?
    /// How often a closure that answers challenges was set.
    private(set) var challengeChanges = 0

    /// Delegate methods without a closure.
    var unused: URLSession.DelegateMethods {
        var unused: URLSession.DelegateMethods = []
        if sessionDidReceiveChallenge == nil { unused.insert(.didReceiveChallenge) }
        if authenticationChallenge == nil { unused.insert(.taskDidReceiveChallenge) }
        if taskWillRedirect == nil { unused.insert(.taskWillPerformHTTPRedirection) }
        if dataTaskDidReceiveResponse == nil { unused.insert(.dataTaskDidReceiveResponse) }
        if dataTaskWillCacheResponse == nil { unused.insert(.dataTaskWillCacheResponse) }
        if taskDidFinishCollectingMetrics == nil { unused.insert(.taskDidFinishCollectingMetrics) }
        return unused
    }

    /// Whether a closure may want to trust a server that the policy refuses.
    var mayDecideAboutServers: Bool { sessionDidReceiveChallenge != nil || authenticationChallenge != nil }
}

extension URLSessionManager {
    /// Receives the invalid session and the error, if there is one.
    public typealias SessionDidBecomeInvalid = @Sendable (URLSession, (any Error)?) -> Void
    /// Answers a challenge that concerns the whole session; the credential is put where the pointer points.
    public typealias SessionDidReceiveChallenge =
        @Sendable (URLSession, URLAuthenticationChallenge, UnsafeMutablePointer<URLCredential?>?)
        -> URLSession.AuthChallengeDisposition
    /// Returns a body stream, at its beginning.
    public typealias TaskNeedNewBodyStream = @Sendable (URLSession, URLSessionTask) -> InputStream?
    /// Returns the request to send: the given one, another one, or nil to take the redirect itself as the response.
    public typealias TaskWillRedirect =
        @Sendable (URLSession, URLSessionTask, HTTPURLResponse, URLRequest) -> URLRequest?
    /// Answers a challenge of a task: see `setAuthenticationChallengeHandler(_:)`.
    public typealias AuthenticationChallengeHandler =
        @Sendable (
            URLSession, URLSessionTask, URLAuthenticationChallenge,
            @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) -> ChallengeAnswer
    /// Receives how many bytes of a body were sent just now, how many in all, and how many are expected.
    public typealias TaskDidSendBodyData = @Sendable (URLSession, URLSessionTask, Int64, Int64, Int64) -> Void
    /// Receives the task that has ended and the session's own error.
    public typealias TaskDidComplete = @Sendable (URLSession, URLSessionTask, (any Error)?) -> Void
    /// Receives the metrics of a task.
    public typealias TaskDidFinishCollectingMetrics =
        @Sendable (URLSession, URLSessionTask, URLSessionTaskMetrics) -> Void
    /// Returns what to do with a response.
    public typealias DataTaskDidReceiveResponse =
        @Sendable (URLSession, URLSessionDataTask, URLResponse) -> URLSession.ResponseDisposition
    /// Receives a data task and the download task that takes its place.
    public typealias DataTaskDidBecomeDownloadTask =
        @Sendable (URLSession, URLSessionDataTask, URLSessionDownloadTask) -> Void
    /// Receives a part of a body.
    public typealias DataTaskDidReceiveData = @Sendable (URLSession, URLSessionDataTask, Data) -> Void
    /// Returns what to cache.
    public typealias DataTaskWillCacheResponse =
        @Sendable (URLSession, URLSessionDataTask, CachedURLResponse) -> CachedURLResponse?
    /// Returns where to move a file.
    public typealias DownloadTaskDidFinishDownloading = @Sendable (URLSession, URLSessionDownloadTask, URL) -> URL?
    /// Receives how many bytes were written just now, how many in all, and how many are expected.
    public typealias DownloadTaskDidWriteData =
        @Sendable (URLSession, URLSessionDownloadTask, Int64, Int64, Int64) -> Void
    /// Receives the offset at which a download continues, and the expected size.
    public typealias DownloadTaskDidResume = @Sendable (URLSession, URLSessionDownloadTask, Int64, Int64) -> Void

    /// How an authentication challenge is answered.
    @nonexhaustive
    public enum ChallengeAnswer: Sendable {
        /// With this credential.
        case credential(URLCredential)
        /// The challenge is cancelled, and the task's completion handler receives this error.
        case fail(any Error)
        /// As without a handler: the manager's ``URLSessionManager/securityPolicy`` decides about servers.
        case performDefaultHandling
        /// The challenge is cancelled, and with it the task.
        case cancel
        /// The protection space is refused; the server may offer another.
        case rejectProtectionSpace
        /// The handler will call the completion it was given, once.
        case later
    }
}
