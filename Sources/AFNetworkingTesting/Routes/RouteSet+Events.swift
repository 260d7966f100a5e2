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
    public static func events(_ events: String...) -> ServerReply {
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
        return .events(body)
    }

    fileprivate static func events(_ body: ReplyBody) -> ServerReply {
        .stream(body, type: "text/event-stream").header("Cache-Control", "no-store").chunked()
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
                let seen = request.headers["Last-Event-ID"].flatMap(DecimalText.count) ?? 0
                guard seen < count else { return .status(204) }
                let last = seen + min(count - seen, max(request.count("per_response") ?? count, 1))
                let retry = request.count("retry").map { "retry: \($0)\n" } ?? ""
                return ServerReply.events(numbers(seen + 1...last, after: retry)).paced(by: request)
            }
        }
    }

    /// Events with these numbers, made while they are sent.
    private static func numbers(_ numbers: ClosedRange<Int>, after start: String) -> ReplyBody {
        let sent = Lock(0)
        return .generated { offset in
            let index = sent.change { sent in
                defer { sent += 1 }
                return sent
            }
            guard index < numbers.count else { return [] }
            let number = numbers.lowerBound + index
            return Array("\(offset == 0 ? start : "")id: \(number)\ndata: {\"number\": \(number)}\n\n".utf8)
        }
    }
}
