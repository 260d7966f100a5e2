public import Foundation

extension URLSession {
    func makeDownloadTask(
        _ request: URLRequest,
        fileReceiver: DownloadConsumer.Receiver,
        for receiver: (any TaskReceiver)? = nil
    ) -> URLSessionDownloadTask {
        // On the caller's thread, because it reads the environment.
        _ = SessionSettings.systemTemporaryFolder
        return make(for: receiver) { URLSessionDownloadTask(request, identifier: $0, in: self, receiver: fileReceiver) }
    }

    /// Makes a task whose file goes to the session's delegate.
    public func downloadTask(with request: URLRequest) -> URLSessionDownloadTask {
        makeDownloadTask(request, fileReceiver: .delegate)
    }

    /// Makes a task whose file goes to the session's delegate.
    public func downloadTask(with url: URL) -> URLSessionDownloadTask {
        makeDownloadTask(URLRequest(url: url), fileReceiver: .delegate)
    }

    /// Makes a task that passes its file to `completionHandler`.
    ///
    /// - Parameters:
    ///   - request: The request to load.
    ///   - completionHandler: Called once, on the delegate queue: with a file and the response, or with an error, and
    ///   then with the response too if its head had arrived. Move the file to keep it: the session removes it when the
    ///   handler returns. An HTTP error status is not an error.
    @preconcurrency
    public func downloadTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        makeDownloadTask(request, fileReceiver: .handler(completionHandler))
    }

    /// Makes a task that passes its file to `completionHandler`, which must move it to keep it.
    @preconcurrency
    public func downloadTask(
        with url: URL,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        makeDownloadTask(URLRequest(url: url), fileReceiver: .handler(completionHandler))
    }

    /// Makes a task that goes on where an earlier download ended; its file goes to the session's delegate.
    ///
    /// It asks the server for the rest, if the file there is still the same. If it is not, the server sends the whole
    /// file, and the download begins anew. It also begins anew if the part on the disk is missing or has changed. The
    /// session must have the same ``URLSessionConfiguration/temporaryFolder``.
    ///
    /// - Parameter resumeData: From ``URLSessionDownloadTask/cancel(byProducingResumeData:)``, or from the error of a
    ///   failed task. With any other data the task fails when you resume it.
    public func downloadTask(withResumeData resumeData: Data) -> URLSessionDownloadTask {
        resumingTask(resumeData, fileReceiver: .delegate)
    }

    /// As ``downloadTask(withResumeData:)``, for a completion handler, which must move the file to keep it.
    @preconcurrency
    public func downloadTask(
        withResumeData resumeData: Data,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        resumingTask(resumeData, fileReceiver: .handler(completionHandler))
    }

    func resumingTask(
        _ data: Data,
        fileReceiver: DownloadConsumer.Receiver,
        for receiver: (any TaskReceiver)? = nil
    ) -> URLSessionDownloadTask {
        _ = SessionSettings.systemTemporaryFolder
        return make(for: receiver) {
            URLSessionDownloadTask(resuming: data, identifier: $0, in: self, receiver: fileReceiver)
        }
    }
}

// MARK: - Awaiting

extension URLSession {
    /// Loads `request` to a file, which is yours: move it or remove it.
    ///
    /// Cancelling the Swift task cancels the download. The result comes as that of ``data(for:delegate:)``.
    ///
    /// - Parameters:
    ///   - request: The request to load.
    ///   - delegate: Hears about this task in place of the session's delegate, where it has the method; also of its
    ///   progress if it is a ``URLSessionDownloadDelegate``. It does not get the file.
    public func download(
        for request: URLRequest,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        try await answer(delegate: delegate) { makeDownloadTask(request, fileReceiver: .waiter($0)) }
    }

    /// Loads `url` to a file, which is yours, as ``download(for:delegate:)`` does.
    public func download(
        from url: URL,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        try await download(for: URLRequest(url: url), delegate: delegate)
    }

    /// Goes on where an earlier download ended, as ``downloadTask(withResumeData:)`` does. The file is yours.
    public func download(
        resumeFrom resumeData: Data,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        try await answer(delegate: delegate) { resumingTask(resumeData, fileReceiver: .waiter($0)) }
    }
}

// MARK: - Present tasks

extension URLSession {
    /// Finds the data tasks and the download tasks that have not completed, as ``getAllTasks(completionHandler:)``.
    @preconcurrency
    public func getTasksWithCompletionHandler(
        _ completionHandler:
            @escaping @Sendable ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask])
            -> Void
    ) {
        getAllTasks { all in
            completionHandler(
                all.filter { !($0 is URLSessionUploadTask) }.compactMap { $0 as? URLSessionDataTask },
                all.compactMap { $0 as? URLSessionUploadTask },
                all.compactMap { $0 as? URLSessionDownloadTask }
            )
        }
    }

    /// The data tasks, upload tasks and download tasks that have not completed.
    public var tasks: ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]) {
        get async {
            await withCheckedContinuation { continuation in
                getTasksWithCompletionHandler { continuation.resume(returning: ($0, $1, $2)) }
            }
        }
    }
}
