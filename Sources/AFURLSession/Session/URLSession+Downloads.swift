public import Foundation

extension URLSession {
    func makeDownloadTask(_ request: URLRequest, _ receiver: DownloadConsumer.Receiver) -> URLSessionDownloadTask {
        // On this thread: it reads the environment.
        _ = SessionSettings.systemTemporaryFolder
        return make { URLSessionDownloadTask(request, $0, in: self, receiver) }
    }

    /// A task whose file goes to the session's delegate.
    public func downloadTask(with request: URLRequest) -> URLSessionDownloadTask {
        makeDownloadTask(request, .delegate)
    }

    /// A task whose file goes to the session's delegate.
    public func downloadTask(with url: URL) -> URLSessionDownloadTask {
        makeDownloadTask(URLRequest(url: url), .delegate)
    }

    /// A task that hands its file to `completionHandler`.
    ///
    /// - Parameters:
    ///   - request: What to load.
    ///   - completionHandler: Called once, on the delegate queue: with a file and the response, or with an error, and
    ///     then with the response too if its head had arrived. The file is removed when it returns; move it to keep
    ///     it. An HTTP error status is not an error.
    public func downloadTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        makeDownloadTask(request, .handler(completionHandler))
    }

    /// A task that hands its file to `completionHandler`, which must move it to keep it.
    public func downloadTask(
        with url: URL,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        makeDownloadTask(URLRequest(url: url), .handler(completionHandler))
    }
}
