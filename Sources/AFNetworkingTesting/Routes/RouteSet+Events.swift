extension ServerReply {
    /// A stream of events (`text/event-stream`), with a chunk for each.
    ///
    /// ```swift
    /// server.route("GET", "/news", .events("id: 1\ndata: one", "data: two").pacing(every: .milliseconds(20)))
    /// ```
    ///
    /// With ``stalling(after:of:)``, ``closing(after:of:)`` and their like the stream breaks off.
    ///
    /// - Parameter events: The lines of each event, without the empty line at its end.
    public static func events(_ events: String...) -> ServerReply { Self.events(events) }

    static func events(_ events: [String]) -> ServerReply {
        let pieces = events.map { Array("\($0)\n\n".utf8) }
        // A reply may be sent many times, so that a piece follows from its place.
        let body = ReplyBody.generated { offset in
            var start = 0
            for piece in pieces {
                if start >= offset { return piece }
                start += piece.count
            }
            return []
        }
        return .stream(body, type: "text/event-stream").header("Cache-Control", "no-store").chunked()
    }
}

extension RouteSet {
    /// A stream of events that can be resumed.
    ///
    /// `/events/N` sends N events, whose data are JSON with their number, and whose identifier it is. A request with
    /// `Last-Event-ID` gets those behind it; behind the last one the answer is 204.
    ///
    /// | query | effect |
    /// |---|---|
    /// | `per_response=` | the response ends after so many events |
    /// | `retry=` | the first event sets this wait, in milliseconds |
    /// | `interval=` | the pause before each event, in seconds |
    public static var events: RouteSet {
        RouteSet { server in
            server.route("GET", "/events/:count") { request in
                guard let count = request.countInPath("count") else { return .misuse("/events/NUMBER") }
                let seen = request.headers["Last-Event-ID"].flatMap { Int($0) } ?? 0
                guard seen < count else { return .status(204) }
                let last = min(count, seen + max(request.count("per_response") ?? count, 1))
                var events = (seen + 1...last).map { "id: \($0)\ndata: {\"number\": \($0)}" }
                if let retry = request.count("retry") { events[0] = "retry: \(retry)\n\(events[0])" }
                return ServerReply.events(events).paced(by: request)
            }
        }
    }
}
