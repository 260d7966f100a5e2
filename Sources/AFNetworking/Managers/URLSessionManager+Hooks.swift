public import Foundation

// Closures in the place of delegate methods. Each is called on the manager's `operationQueue`, after the manager has
// done its own part.

extension URLSessionManager {
    private func change(_ body: (inout SessionHooks) -> Void) {
        // Closures that are replaced may run code when they go: not under the lock.
        let (session, _) = state.withLock { state in
            let former = state.hooks
            body(&state.hooks)
            return (state.session, former)
        }
        if let session { applyHooks(to: session) }
        applyTrust()
    }

    /// The session does not call what nobody listens to.
    func applyHooks(to session: URLSession) {
        if mayHaveOverrides { return }
        // Under the lock, or of two threads the one that looked first could be the one that writes last.
        state.withLock { session.ignoredDelegateMethods = $0.hooks.unused }
    }

    // MARK: - Of the session

    /// Called when the session will do nothing more, and before the notification that says so.
    public func setSessionDidBecomeInvalidBlock(_ block: SessionDidBecomeInvalid?) {
        change { $0.sessionDidBecomeInvalid = block }
    }

    /// Answers challenges that concern the whole session: the certificate of a server, and requests for ours.
    ///
    /// Without it these come to the handler of `setAuthenticationChallengeHandler(_:)`. Where it answers
    /// `.performDefaultHandling`, ``securityPolicy`` decides about servers. A policy that pins decides before anybody
    /// is asked.
    public func setSessionDidReceiveAuthenticationChallengeBlock(_ block: SessionDidReceiveChallenge?) {
        change { $0.sessionDidReceiveChallenge = block }
    }

    // MARK: - Of tasks

    /// Gives the body stream of a task that has to send it, or to send it again, from its beginning. Without it that is
    /// a copy of the request's stream, if it can be copied, as those of multipart requests can.
    public func setTaskNeedNewBodyStreamBlock(_ block: TaskNeedNewBodyStream?) {
        change { $0.taskNeedNewBodyStream = block }
    }

    /// Says where a redirected task goes. Without it the session's ``/AFURLSession/RedirectPolicy`` does.
    public func setTaskWillPerformHTTPRedirectionBlock(_ block: TaskWillRedirect?) {
        change { $0.taskWillRedirect = block }
    }

    /// Answers the challenges of tasks, and those of the session unless
    /// ``setSessionDidReceiveAuthenticationChallengeBlock(_:)`` has one for them.
    ///
    /// With `.fail` the task's completion handler receives the error given. With `.performDefaultHandling`,
    /// ``securityPolicy`` decides about servers; if it refuses one, the handler receives an error with the code
    /// `serverCertificateUntrusted`. A policy that pins decides before anybody is asked.
    public func setAuthenticationChallengeHandler(_ handler: AuthenticationChallengeHandler?) {
        change { $0.authenticationChallenge = handler }
    }

    /// Hears how much of a body was sent. The total is that of the request's `Content-Length` where the session knows
    /// none.
    public func setTaskDidSendBodyDataBlock(_ block: TaskDidSendBodyData?) {
        change { $0.taskDidSendBodyData = block }
    }

    /// Called when a task has ended, before its completion handler as a rule.
    public func setTaskDidCompleteBlock(_ block: TaskDidComplete?) {
        change { $0.taskDidComplete = block }
    }

    /// Receives the metrics of each task, right before it ends.
    public func setTaskDidFinishCollectingMetricsBlock(_ block: TaskDidFinishCollectingMetrics?) {
        change { $0.taskDidFinishCollectingMetrics = block }
    }

    // MARK: - Of data tasks

    /// Says what to do with the response of a data task. Without it all are allowed.
    public func setDataTaskDidReceiveResponseBlock(_ block: DataTaskDidReceiveResponse?) {
        change { $0.dataTaskDidReceiveResponse = block }
    }

    /// Called when a download task takes the place of a data task, as the block above may ask for. It has the data
    /// task's completion handler.
    public func setDataTaskDidBecomeDownloadTaskBlock(_ block: DataTaskDidBecomeDownloadTask?) {
        change { $0.dataTaskDidBecomeDownloadTask = block }
    }

    /// Receives the bodies of data tasks piece by piece. Completion handlers get them all the same.
    public func setDataTaskDidReceiveDataBlock(_ block: DataTaskDidReceiveData?) {
        change { $0.dataTaskDidReceiveData = block }
    }

    /// Says what is cached of a response.
    public func setDataTaskWillCacheResponseBlock(_ block: DataTaskWillCacheResponse?) {
        change { $0.dataTaskWillCacheResponse = block }
    }

    // MARK: - Of downloads

    /// Says where the file of a download is moved to, before the task's own destination is asked; nil leaves it to
    /// that.
    public func setDownloadTaskDidFinishDownloadingBlock(_ block: DownloadTaskDidFinishDownloading?) {
        change { $0.downloadTaskDidFinishDownloading = block }
    }

    /// Hears how much of a download was written.
    public func setDownloadTaskDidWriteDataBlock(_ block: DownloadTaskDidWriteData?) {
        change { $0.downloadTaskDidWriteData = block }
    }

    /// Called when a download goes on where another one ended.
    public func setDownloadTaskDidResumeBlock(_ block: DownloadTaskDidResume?) {
        change { $0.downloadTaskDidResume = block }
    }
}

/// What a manager's user wants to do at the moments of a session.
struct SessionHooks: Sendable {
    var sessionDidBecomeInvalid: URLSessionManager.SessionDidBecomeInvalid?
    var sessionDidReceiveChallenge: URLSessionManager.SessionDidReceiveChallenge?
    var taskNeedNewBodyStream: URLSessionManager.TaskNeedNewBodyStream?
    var taskWillRedirect: URLSessionManager.TaskWillRedirect?
    var authenticationChallenge: URLSessionManager.AuthenticationChallengeHandler?
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

    /// Delegate methods that have nothing to do.
    var unused: URLSession.DelegateMethods {
        var unused: URLSession.DelegateMethods = []
        if sessionDidReceiveChallenge == nil { unused.insert(.didReceiveChallenge) }
        if authenticationChallenge == nil { unused.insert(.taskDidReceiveChallenge) }
        if taskWillRedirect == nil { unused.insert(.taskWillPerformHTTPRedirection) }
        if dataTaskDidReceiveResponse == nil { unused.insert(.dataTaskDidReceiveResponse) }
        if dataTaskWillCacheResponse == nil { unused.insert(.dataTaskWillCacheResponse) }
        return unused
    }

    /// Whether somebody may want to trust a server of whom the standard evaluation thinks otherwise.
    var mayDecideAboutServers: Bool { sessionDidReceiveChallenge != nil || authenticationChallenge != nil }
}

extension URLSessionManager {
    /// The session will do nothing more.
    public typealias SessionDidBecomeInvalid = @Sendable (URLSession, (any Error)?) -> Void
    /// Answers a challenge that concerns the whole session; the credential is put where the pointer points.
    public typealias SessionDidReceiveChallenge =
        @Sendable (URLSession, URLAuthenticationChallenge, UnsafeMutablePointer<URLCredential?>?)
        -> URLSession.AuthChallengeDisposition
    /// Gives a body stream from its beginning.
    public typealias TaskNeedNewBodyStream = @Sendable (URLSession, URLSessionTask) -> InputStream?
    /// Says where to go: the request given, another one, or nil to take the redirect itself as the response.
    public typealias TaskWillRedirect =
        @Sendable (URLSession, URLSessionTask, HTTPURLResponse, URLRequest) -> URLRequest?
    /// Answers a challenge of a task: see `setAuthenticationChallengeHandler(_:)`.
    public typealias AuthenticationChallengeHandler =
        @Sendable (
            URLSession, URLSessionTask, URLAuthenticationChallenge,
            @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) -> ChallengeAnswer
    /// So many bytes of a body were sent, in all so many, of so many.
    public typealias TaskDidSendBodyData = @Sendable (URLSession, URLSessionTask, Int64, Int64, Int64) -> Void
    /// The task has ended, with the session's own error.
    public typealias TaskDidComplete = @Sendable (URLSession, URLSessionTask, (any Error)?) -> Void
    /// When each phase of the task happened.
    public typealias TaskDidFinishCollectingMetrics =
        @Sendable (URLSession, URLSessionTask, URLSessionTaskMetrics) -> Void
    /// Says what to do with a response.
    public typealias DataTaskDidReceiveResponse =
        @Sendable (URLSession, URLSessionDataTask, URLResponse) -> URLSession.ResponseDisposition
    /// A download task goes on in the place of a data task.
    public typealias DataTaskDidBecomeDownloadTask =
        @Sendable (URLSession, URLSessionDataTask, URLSessionDownloadTask) -> Void
    /// Part of a body.
    public typealias DataTaskDidReceiveData = @Sendable (URLSession, URLSessionDataTask, Data) -> Void
    /// Says what to cache.
    public typealias DataTaskWillCacheResponse =
        @Sendable (URLSession, URLSessionDataTask, CachedURLResponse) -> CachedURLResponse?
    /// Says where to move a file to.
    public typealias DownloadTaskDidFinishDownloading = @Sendable (URLSession, URLSessionDownloadTask, URL) -> URL?
    /// So many bytes were written, in all so many, of so many.
    public typealias DownloadTaskDidWriteData =
        @Sendable (URLSession, URLSessionDownloadTask, Int64, Int64, Int64) -> Void
    /// The download goes on at an offset, of so many bytes in all.
    public typealias DownloadTaskDidResume = @Sendable (URLSession, URLSessionDownloadTask, Int64, Int64) -> Void

    /// How an authentication challenge is answered.
    public enum ChallengeAnswer: Sendable {
        /// With this credential.
        case credential(URLCredential)
        /// The challenge is cancelled, and the task's completion handler receives this error.
        case fail(any Error)
        /// As without a handler: servers are judged by the manager's ``URLSessionManager/securityPolicy``.
        case performDefaultHandling
        /// The challenge is cancelled, and with it the task.
        case cancel
        /// The protection space is refused; the server may offer another.
        case rejectProtectionSpace
        /// The handler will call the completion it was given, once.
        case later
    }
}
