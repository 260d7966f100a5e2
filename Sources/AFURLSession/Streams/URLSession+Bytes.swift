import AFLoop
public import Foundation

extension URLSession {
    /// Loads `request` and returns as soon as the head of the response has arrived. The bytes of its body follow.
    ///
    /// Cancelling the Swift task, or releasing the bytes, cancels the load. The result does not depend on the delegate
    /// queue, unless a delegate takes the metrics of the task: then the end of the bytes comes after that method has
    /// returned.
    ///
    /// - Parameters:
    ///   - request: The request to load.
    ///   - delegate: Hears about this task in place of the session's delegate, where it has the method; not about the
    ///   response, the data and the completion, which go to the caller.
    public func bytes(
        for request: URLRequest,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, URLResponse) {
        let mailbox = StreamMailbox()
        let task = make { identifier in
            URLSessionDataTask(request, identifier, in: self, consumer: StreamConsumer(mailbox)) { _, _, error in
                for waiter in mailbox.end(error) { waiter.resume() }
            }
        }
        task.delegate = delegate
        let source = ByteSource(task, mailbox)
        task.resume()
        return (AsyncBytes(source: source), try await source.response())
    }

    /// Loads `url`, as ``bytes(for:delegate:)`` does.
    public func bytes(
        from url: URL,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, URLResponse) {
        try await bytes(for: URLRequest(url: url), delegate: delegate)
    }
}
