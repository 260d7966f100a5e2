extension TestServer {
    /// Makes the reply to a request. Runs on the connection's thread. If it throws, the server answers 500.
    public typealias Handler = @Sendable (RecordedRequest) throws -> ServerReply

    /// When the server calls the handler of a route.
    public enum AnswerTime: Sendable, Hashable {
        /// When the whole request has arrived.
        case complete
        /// When the head has arrived: the request has no body yet. The server reads the body before it sends the
        /// reply, unless the reply is `withoutReadingBody()`.
        case head
    }

    /// Answers requests of a method and a path.
    ///
    /// ```swift
    /// server.route("GET", "/users/:id") { .text("user \($0.parameters["id"] ?? "")") }
    /// server.route("PUT", "/files/*") { .status(201).header("X-Name", $0.parameters["*"] ?? "") }
    /// server.route("*", "/echo") { .data($0.body) }
    /// ```
    ///
    /// A `:name` segment matches one segment, a final `*` the rest of the path. The handler gets both
    /// in `parameters`, percent-decoded. The query does not count. The method `*` is any method, and
    /// GET routes answer HEAD too. If several routes match, the one that was registered first answers.
    /// Registering the same method and pattern again replaces the handler.
    public func route(
        _ method: String,
        _ pattern: String,
        answering time: AnswerTime = .complete,
        _ handler: @escaping Handler
    ) {
        let pattern = RoutePattern(pattern)
        core.add(Route(method: method, pattern: pattern, waitsForBody: time == .complete, answer: handler))
    }

    /// Always answers requests of a method and a path with this reply.
    ///
    /// ```swift
    /// server.route("POST", "/upload", .status(413).withoutReadingBody())
    /// ```
    public func route(_ method: String, _ pattern: String, _ reply: ServerReply) {
        core.add(Route(method: method, pattern: RoutePattern(pattern), waitsForBody: false) { _ in reply })
    }

    /// Answers requests for which there is no route, in this order, one reply each.
    ///
    /// Without a route and without an enqueued reply the server answers 404, or 405 if the path has a route for
    /// another method. The server takes a reply when the head of the request arrives.
    ///
    /// ```swift
    /// server.enqueue(.status(503), .text("ok"))
    /// ```
    public func enqueue(_ replies: ServerReply...) {
        core.enqueue(replies)
    }
}
