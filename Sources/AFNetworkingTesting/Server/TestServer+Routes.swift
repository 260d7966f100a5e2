extension TestServer {
    /// Makes the reply to a request. Runs on the connection's thread; throwing becomes a 500.
    public typealias Handler = @Sendable (RecordedRequest) throws -> ServerReply

    /// When the handler of a route is asked.
    public enum AnswerTime: Sendable, Hashable {
        /// When the whole request arrived.
        case complete
        /// When the head arrived: the request has no body yet. The body is read before the reply is
        /// sent, unless the reply is `withoutReadingBody()`.
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
    /// A `:name` segment matches any one segment, a final `*` any rest; both are handed to the handler
    /// in `parameters`, percent-decoded. The query takes no part. The method `*` is any method, and
    /// GET routes answer HEAD too. Of several routes that match, the first registered answers;
    /// registering the same method and pattern again replaces the handler.
    public func route(
        _ method: String,
        _ pattern: String,
        answering time: AnswerTime = .complete,
        _ handler: @escaping Handler
    ) {
        let pattern = RoutePattern(pattern)
        core.add(Route(method: method, pattern: pattern, waitsForBody: time == .complete, answer: handler))
    }

    /// Answers requests of a method and a path with always the same reply.
    ///
    /// ```swift
    /// server.route("POST", "/upload", .status(413).withoutReadingBody())
    /// ```
    public func route(_ method: String, _ pattern: String, _ reply: ServerReply) {
        core.add(Route(method: method, pattern: RoutePattern(pattern), waitsForBody: false) { _ in reply })
    }

    /// Answers requests whose path no route knows, in this order, one reply each.
    ///
    /// Without a route and without a reply left, the answer is 404; 405 if the path has a route for
    /// other methods. A reply is used up when the head of its request arrives.
    ///
    /// ```swift
    /// server.enqueue(.status(503), .text("ok"))
    /// ```
    public func enqueue(_ replies: ServerReply...) {
        core.enqueue(replies)
    }
}
