import AFTransport
public import Foundation

extension URLSession {
    /// Loads `request` to a file by several requests at a time, where the server gives parts of it. That is faster where
    /// the server, or something on the way, limits each connection; else it is not.
    ///
    /// Until it is complete, the file stands beside the place you name, with `.parts` behind its name. If the download
    /// fails, is cancelled, or its process dies, that file stays, and the next download of the same URL to the same place
    /// goes on with it, if the server still has the same file; if not, it begins anew. A file that is at the place already
    /// is replaced when the download is complete.
    ///
    /// Each part is a task of the session, under all its rules. A part goes on with what another has left, and takes half
    /// of what is left of the slowest one when it is done. Where the server gives no parts, this is a download by one
    /// request, and where it does not say what the file is known by (a strong `ETag`, or a reliable `Last-Modified`) and
    /// how long it is, it cannot be gone on with.
    ///
    /// - Parameters:
    ///   - request: A GET. With a `Range` of its own, another method or a body, it is loaded by one request.
    ///   - file: Where the file will be.
    ///   - parts: How many requests may run at a time.
    ///   - progress: Shows how many bytes are in the file. Cancelling it cancels the download, pausing it suspends the
    ///   requests.
    ///   - delegate: Hears about each of the tasks, as in ``data(for:delegate:)``. A part that another request takes over
    ///   ends with `URLError.cancelled` in its metrics.
    /// - Returns: The response, or the one that the server would have given to a request for the whole.
    /// - Throws: The error of the request that could not go on, or a `URLError` that says what is wrong with the file. A
    ///   status other than 2xx is one, with the response as `URLError.refusedResponse`.
    @discardableResult
    public func download(
        for request: URLRequest,
        to file: URL,
        inParts parts: DownloadParts,
        progress: Progress? = nil,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> URLResponse {
        if let reason = world.unavailability() { throw reason.urlError(for: request.url) }
        guard file.isFileURL else { throw LoadError.file(FileFailure(.notAFileURL, at: file.path)).urlError(for: file) }
        let call = PartedCall(
            session: self,
            request: request,
            path: file.path,
            parts: parts,
            progress: progress,
            delegate: delegate,
            context: CallerContext(preferring: world.interceptorExecutor)
        )
        let answer = AwaitedResult<URLResponse>()
        // The delegate of a manager's session is held until the end.
        let sessionDelegate = lentDelegate
        defer { withExtendedLifetime(sessionDelegate) {} }
        let download = core.joined { PartedDownload(call, in: $0, answer: answer) }
        let cancel = { @Sendable in download.loop.enqueue { download.value.fail(.cancelled) } }
        let follow = { @Sendable in download.loop.enqueue { download.value.followPause() } }
        progress?.cancellationHandler = cancel
        progress?.pausingHandler = follow
        progress?.resumingHandler = follow
        // They hold the download, which holds the progress.
        defer {
            progress?.cancellationHandler = nil
            progress?.pausingHandler = nil
            progress?.resumingHandler = nil
        }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                answer.expect(continuation)
                download.loop.enqueue { download.value.begin() }
            }
        } onCancel: {
            cancel()
        }
        return try answer.taken()
    }

    /// Loads `url` to a file, as ``download(for:to:inParts:progress:delegate:)`` does.
    @discardableResult
    public func download(
        from url: URL,
        to file: URL,
        inParts parts: DownloadParts,
        progress: Progress? = nil,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> URLResponse {
        try await download(for: URLRequest(url: url), to: file, inParts: parts, progress: progress, delegate: delegate)
    }
}
