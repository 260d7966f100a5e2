public import Foundation

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
