/// The state that the threads of a server share.
struct ServerState: Sendable {
    enum Phase: Sendable {
        case running
        case stopping
        case stopped
    }

    var phase = Phase.running

    // MARK: Instructions

    var routes: [ServerRoute] = []
    var queue: ArraySlice<ServerReply> = []
    var nextScripts: ArraySlice<[ScriptStep]> = []
    var numberedScripts: [Int: [ScriptStep]] = [:]
    var scriptForEvery: [ScriptStep]?
    var signals: Set<String> = []
    /// The TLS settings of connections that are accepted from now on; nil for plain HTTP.
    var tls: ServerTLSContext?

    // MARK: Records

    var requests: [RecordedRequest] = []
    /// In the order of their numbers, which begin at 1.
    var connections: [RecordedConnection] = []

    // MARK: Sockets and threads

    /// Descriptors by connection number, and by the negative number that of a proxy's connection to the target. A
    /// thread closes a descriptor and removes it from here under the lock, so that `stop()` never shuts down a
    /// reused descriptor.
    var descriptors: [Int: Int32] = [:]
    var acceptThread: ServerThread?
    var threads: Set<ServerThread> = []
    /// Threads that have ended and are to be joined.
    var finished: [ServerThread] = []

    /// How many connections are open.
    private(set) var openConnections = 0

    /// Gives a new connection its number.
    mutating func openConnection() -> Int {
        openConnections += 1
        connections.append(RecordedConnection(number: connections.count + 1))
        return connections.count
    }

    mutating func endConnection(_ number: Int, with end: RecordedConnection.End) {
        openConnections -= 1
        connections[number - 1].end = end
    }

    /// The script of a connection that is about to be accepted.
    func script(for number: Int) -> [ScriptStep]? {
        numberedScripts[number] ?? nextScripts.first ?? scriptForEvery
    }

    /// The same, and removes it.
    mutating func takeScript(for number: Int) -> [ScriptStep]? {
        if let script = numberedScripts.removeValue(forKey: number) { return script }
        return nextScripts.popFirst() ?? scriptForEvery
    }

    /// What answers a request. Removes the enqueued reply that it returns.
    mutating func takeResponder(for request: RecordedRequest) -> Responder {
        let path = request.path
        var allowed: [String] = []
        for route in routes {
            guard let parameters = route.pattern.match(path) else { continue }
            if route.accepts(request.method) { return .route(route, parameters: parameters) }
            allowed.append(contentsOf: route.method == "GET" ? ["GET", "HEAD"] : [route.method])
        }
        if !allowed.isEmpty {
            var seen: Set<String> = []
            let list = allowed.filter { seen.insert($0).inserted }.joined(separator: ", ")
            return .unanswered(.text("no route for \(request.method)\n").status(405).header("Allow", list))
        }
        if let reply = queue.popFirst() { return .reply(reply) }
        return .unanswered(.text("no route for \(request.method) \(path)\n").status(404))
    }
}
