public import Foundation

// MARK: - From memory

extension URLSession {
    /// Makes a task that sends `bodyData`, whatever body `request` has, and whose response goes to the session's
    /// delegate.
    ///
    /// The session can send the body again where that is safe. A method that has no body, `GET` among them, fails the
    /// task.
    public func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask {
        makeUploadTask(request, body: .data(bodyData))
    }

    /// Makes a task that sends `bodyData`, whatever body `request` has, and passes its whole response to
    /// `completionHandler`.
    ///
    /// - Parameters:
    ///   - request: The request to send, without its own body.
    ///   - bodyData: The body to send. Nil is an empty body.
    ///   - completionHandler: As that of ``dataTask(with:completionHandler:)-(URLRequest,_)``.
    @preconcurrency
    public func uploadTask(
        with request: URLRequest,
        from bodyData: Data?,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        makeUploadTask(request, body: .data(bodyData ?? Data()), completion: completionHandler)
    }
}

// MARK: - From a file

extension URLSession {
    /// Makes a task that sends the content of a file, and whose response goes to the session's delegate.
    ///
    /// The task opens the file when it is resumed, and never holds all of it in memory. It reads on other threads than
    /// the network's where reading may have to wait. The file must be a regular one, and stay as it is until it is
    /// sent: if a program writes to it or truncates it meanwhile, the task fails and the server gets no complete body.
    /// The task does not look at a file of the same name that takes its place. It fails before it sends anything with
    /// `URLError.fileDoesNotExist`, `.noPermissionsToReadFile`, `.fileIsDirectory` or `.cannotOpenFile`.
    ///
    /// - Parameters:
    ///   - request: The request to send. The task ignores its own body.
    ///   - fileURL: The file to send.
    public func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask {
        makeUploadTask(request, body: .file(fileURL))
    }

    /// As ``uploadTask(with:fromFile:)``, with a handler for the whole response.
    @preconcurrency
    public func uploadTask(
        with request: URLRequest,
        fromFile fileURL: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        makeUploadTask(request, body: .file(fileURL), completion: completionHandler)
    }
}

// MARK: - From a stream

extension URLSession {
    /// Makes a task that sends a stream, and whose response goes to the session's delegate.
    ///
    /// The session asks the delegate for the stream with `urlSession(_:task:needNewBodyStream:)`, also for the first
    /// time. If the delegate has none, the session takes the `httpBodyStream` of `request`, once. The body goes in
    /// chunks, unless `request` has a `Content-Length` field; then the stream must have that length.
    public func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask {
        makeUploadTask(request, body: .streamed)
    }
}

// MARK: - Awaited

extension URLSession {
    /// Sends `bodyData`, whatever body `request` has, and returns the whole response.
    ///
    /// Cancelling the Swift task cancels the request. The result comes, and the delegate is called, as in
    /// ``data(for:delegate:)``.
    public func upload(
        for request: URLRequest,
        from bodyData: Data,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await answer(delegate: delegate) {
            makeUploadTask(request, body: .data(bodyData), isAwaited: true, completion: $0)
        }
    }

    /// Sends the content of a file, as ``uploadTask(with:fromFile:)`` does, and returns the whole response.
    ///
    /// Cancelling the Swift task cancels the request. The result comes, and the delegate is called, as in
    /// ``data(for:delegate:)``.
    public func upload(
        for request: URLRequest,
        fromFile fileURL: URL,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await answer(delegate: delegate) {
            makeUploadTask(request, body: .file(fileURL), isAwaited: true, completion: $0)
        }
    }
}
