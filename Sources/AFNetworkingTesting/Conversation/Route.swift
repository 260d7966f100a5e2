/// A handler and the requests it is meant for.
struct Route: Sendable {
    /// "*" means every method.
    let method: String
    let pattern: RoutePattern
    let time: TestServer.AnswerTime
    let answer: TestServer.Handler

    func accepts(_ method: String) -> Bool {
        self.method == "*" || self.method == method || (self.method == "GET" && method == "HEAD")
    }
}

/// Who answers a request.
enum Responder: Sendable {
    /// A reply that is known already.
    case reply(ServerReply)
    /// A route, with what its pattern captured.
    case route(Route, parameters: [String: String])
    /// Nobody; the reply says so.
    case nobody(ServerReply)
}
