public import AFURLSession

extension HTTPSessionManager {
    /// The events that a server sends as `text/event-stream`, as `URLSession.events(for:)` loads them.
    ///
    /// The request is made as by the verbs: with the base URL, the request serializer and its header fields. The policy of
    /// the manager judges the server each time the stream connects.
    ///
    /// - Parameters:
    ///   - urlString: Relative to the base URL.
    ///   - method: The method of the request.
    ///   - parameters: For the query, or for the body, as the request serializer encodes them.
    ///   - headers: More header fields.
    ///   - options: Whether and how the stream connects again, and its limits.
    ///   - delegate: Hears about the stream (`EventStreamDelegate`) and its tasks.
    /// - Throws: What the request serializer throws.
    public func events(
        _ urlString: String,
        method: String = "GET",
        parameters: Any? = nil,
        headers: [String: String]? = nil,
        options: EventStreamOptions = EventStreamOptions(),
        delegate: (any URLSessionTaskDelegate)? = nil
    ) throws -> EventStream {
        let request = try request(for: Call(method, urlString: urlString, parameters: parameters, headers: headers))
        return session.events(for: request, options: options, delegate: delegate)
    }
}
