public import AFURLSession

extension HTTPSessionManager {
    /// Makes a task that opens a WebSocket. Resume it, as every task.
    ///
    /// The request is made as by the verbs: with the base URL, the request serializer and its header fields. The policy of
    /// the manager judges the server before a byte is sent.
    ///
    /// - Parameters:
    ///   - urlString: Relative to the base URL; or with the scheme `ws` or `wss`.
    ///   - parameters: For the query.
    ///   - headers: More header fields.
    ///   - options: The subprotocols, the limits, and how the WebSocket is kept.
    /// - Throws: What the request serializer throws.
    public func webSocket(
        _ urlString: String,
        parameters: Any? = nil,
        headers: [String: String]? = nil,
        options: WebSocketOptions = WebSocketOptions()
    ) throws -> URLSessionWebSocketTask {
        let call = Call(
            "GET",
            urlString: URLSessionWebSocketTask.httpText(of: urlString),
            parameters: parameters,
            headers: headers
        )
        let task = session.webSocketTask(with: try request(for: call), options: options)
        // As for other tasks: an invalid session would wait until the task is resumed.
        if session.isInvalidated { task.cancel() }
        return task
    }
}
