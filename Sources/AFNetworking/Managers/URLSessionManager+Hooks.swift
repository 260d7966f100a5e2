import Foundation

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
