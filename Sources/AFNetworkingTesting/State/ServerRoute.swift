/// A handler, and the requests that it answers.
struct ServerRoute: Sendable {
    /// "*" means every method.
    let method: String
    let pattern: RoutePattern
    /// Whether the server calls the handler with the whole request, and not when the head has arrived.
    let waitsForBody: Bool
    let answer: @Sendable (RecordedRequest) throws -> ServerReply

    func accepts(_ method: String) -> Bool {
        self.method == "*" || self.method == method || (self.method == "GET" && method == "HEAD")
    }
}

/// What answers a request.
enum Responder: Sendable {
    /// A reply that is known already.
    case reply(ServerReply)
    /// A route, with the values of its pattern's captures.
    case route(ServerRoute, parameters: [String: String])
    /// No route and no enqueued reply; the reply says so.
    case unanswered(ServerReply)
}
