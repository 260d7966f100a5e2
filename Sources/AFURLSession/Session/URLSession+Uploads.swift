public import Foundation

// MARK: - From memory

extension URLSession {
    /// A task that sends `bodyData`, whatever body `request` has, and whose response
    /// goes to the session's delegate.
    ///
    /// The body can be sent again when that is safe. A method that has no body, `GET`
    /// among them, fails the task.
    public func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask {
        makeUploadTask(request, .data(bodyData))
    }

    /// A task that sends `bodyData`, whatever body `request` has, and hands its whole
    /// response to `completionHandler`.
    ///
    /// - Parameters:
    ///   - request: Where to send it, and how.
    ///   - bodyData: What to send. Nil is an empty body.
    ///   - completionHandler: As that of ``dataTask(with:completionHandler:)-(URLRequest,_)``.
    @preconcurrency
    public func uploadTask(
        with request: URLRequest,
        from bodyData: Data?,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        makeUploadTask(request, .data(bodyData ?? Data()), completionHandler)
    }
}

// MARK: - From a file

extension URLSession {
    /// A task that sends the content of a file and whose response goes to the session's
    /// delegate.
    ///
    /// The file is opened when the task is resumed, is never in memory as a whole, and is
    /// read on other threads than the network's where that may have to wait. It must be a
    /// regular file, and stay as it is until it is sent: if it is written to or truncated
    /// meanwhile, the task fails and the server gets no complete body. A file of the same
    /// name that takes its place is not looked at. Fails before anything is sent with
    /// `URLError.fileDoesNotExist`, `.noPermissionsToReadFile`, `.fileIsDirectory` or
    /// `.cannotOpenFile`.
    ///
    /// - Parameters:
    ///   - request: Where to send it, and how. Its own body is ignored.
    ///   - fileURL: What to send.
    public func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask {
        makeUploadTask(request, .file(fileURL))
    }

    /// As ``uploadTask(with:fromFile:)``, with a handler for the whole response.
    @preconcurrency
    public func uploadTask(
        with request: URLRequest,
        fromFile fileURL: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        makeUploadTask(request, .file(fileURL), completionHandler)
    }
}

// MARK: - From a stream

extension URLSession {
    /// A task that sends a stream and whose response goes to the session's delegate.
    ///
    /// The delegate is asked for the stream with
    /// `urlSession(_:task:needNewBodyStream:)`, also for the first time. If it has none,
    /// the `httpBodyStream` of `request` is taken, once. The body goes in chunks, unless
    /// `request` has a `Content-Length` field, to which the stream must keep.
    public func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask {
        makeUploadTask(request, .streamed)
    }
}

// MARK: - Awaited

extension URLSession {
    /// Sends `bodyData`, whatever body `request` has, and returns the whole response.
    ///
    /// Cancelling the Swift task cancels the request. The answer comes, and the
    /// delegate is called, as in ``data(for:delegate:)``.
    public func upload(
        for request: URLRequest,
        from bodyData: Data,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await answer(delegate: delegate) { makeUploadTask(request, .data(bodyData), isAwaited: true, $0) }
    }

    /// Sends the content of a file, as ``uploadTask(with:fromFile:)`` does, and returns the
    /// whole response.
    ///
    /// Cancelling the Swift task cancels the request. The answer comes, and the
    /// delegate is called, as in ``data(for:delegate:)``.
    public func upload(
        for request: URLRequest,
        fromFile fileURL: URL,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await answer(delegate: delegate) { makeUploadTask(request, .file(fileURL), isAwaited: true, $0) }
    }
}
