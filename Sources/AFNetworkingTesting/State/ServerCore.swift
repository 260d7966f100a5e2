import Foundation

/// What the threads of a server share: its options, its listener, and its state behind one lock.
///
/// ```
/// init ── accept thread ──┬── connection thread 1 ── joined by the accept thread
///                         ├── connection thread 2       when the next client comes,
///                         └── …                         or by stop()
/// ```
///
/// The threads hold the core and never the `TestServer`, so that the server stops when the last reference to it
/// goes away.
final class ServerCore: Sendable {
    let options: TestServerOptions
    let listener: Listener
    let lock = Lock(ServerState())

    init(listener: Listener, tls: TLSContext?, options: TestServerOptions) {
        self.listener = listener
        self.options = options
        lock.change { $0.tls = tls }
    }

    // MARK: - Instructions

    func add(_ route: Route) {
        lock.change { state in
            let same = state.routes.firstIndex { $0.method == route.method && $0.pattern == route.pattern }
            if let same {
                state.routes[same] = route
            } else {
                state.routes.append(route)
            }
        }
    }

    func waitForSignal(_ name: String) throws(ConnectionEnd) {
        _ = lock.wait { $0.signals.contains(name) || $0.phase != .running ? true : nil }
        try checkRunning()
    }

    // MARK: - Records

    func checkRunning() throws(ConnectionEnd) {
        if lock.read({ $0.phase != .running }) { throw .serverStopped }
    }

    func noteReceived(_ bytes: UnsafeRawBufferPointer, on connection: Int) {
        let limit = options.storedTranscriptLimit
        lock.change { state in
            state.connections[connection - 1].bytesReceived += bytes.count
            let room = limit - state.connections[connection - 1].received.count
            if room > 0 { state.connections[connection - 1].received.append(contentsOf: bytes.prefix(room)) }
        }
    }

    func noteReceivedOnWire(_ bytes: UnsafeRawBufferPointer, on connection: Int) {
        let limit = options.storedTranscriptLimit
        lock.change { state in
            let room = limit - state.connections[connection - 1].wire.count
            if room > 0 { state.connections[connection - 1].wireWithinTLS.append(contentsOf: bytes.prefix(room)) }
        }
    }

    /// Moves bytes that were received before the handshake step, but belong to it, to the record of the wire.
    func noteStartOfTLS(early: [UInt8], on connection: Int) {
        lock.change { state in
            let clear = state.connections[connection - 1].bytesReceived - early.count
            let received = state.connections[connection - 1].received.prefix(clear)
            state.connections[connection - 1].bytesReceived = clear
            state.connections[connection - 1].received = received
            state.connections[connection - 1].wireBeforeTLS = received
            state.connections[connection - 1].tls = RecordedHandshake()
        }
        early.withUnsafeBytes { noteReceivedOnWire($0, on: connection) }
    }

    func note(_ handshake: RecordedHandshake, on connection: Int) {
        lock.change { $0.connections[connection - 1].tls = handshake }
    }

    func note(_ frame: ServerFrame, on connection: Int) {
        let limit = options.storedTranscriptLimit
        lock.change { $0.connections[connection - 1].add(frame, limit: limit) }
    }

    func noteSent(_ count: Int, on connection: Int) {
        lock.change { $0.connections[connection - 1].bytesSent += count }
    }

    func noteCompletedStep(on connection: Int) {
        lock.change { $0.connections[connection - 1].completedSteps += 1 }
    }

    func noteRefusal(_ reason: String, on connection: Int) {
        lock.change { $0.connections[connection - 1].refusal = reason }
    }

    func record(_ request: RecordedRequest) {
        lock.change { state in
            state.requests.append(request)
            state.connections[request.connection - 1].requestCount += 1
        }
    }
}

/// Limits and defaults of a `TestServer`. Its other name is `TestServer.Options`.
public struct TestServerOptions: Sendable, Hashable {
    /// How many bytes of one request's body the server keeps; it only counts the rest.
    public var storedBodyLimit = 16 * 1024 * 1024
    /// How many bytes of one connection the server keeps in `RecordedConnection.received`.
    public var storedTranscriptLimit = 256 * 1024
    /// Whether the server answers `Expect: 100-continue` with 100 before it reads the body.
    public var answersExpectContinue = true
    /// How many connections the server serves at a time, at most 4096. Further ones wait to be accepted.
    public var connectionLimit = 4096
    /// How many clients may wait to be accepted in the kernel's queue.
    public var backlog = 511

    /// The default options.
    public init() {}
}

/// The state that the threads of a server share.
struct ServerState: Sendable {
    enum Phase: Sendable {
        case running
        case stopping
        case stopped
    }

    var phase = Phase.running

    // MARK: Instructions

    var routes: [Route] = []
    var queue: ArraySlice<ServerReply> = []
    var nextScripts: ArraySlice<[ScriptStep]> = []
    var numberedScripts: [Int: [ScriptStep]] = [:]
    var scriptForEvery: [ScriptStep]?
    var signals: Set<String> = []
    /// The TLS settings of connections that are accepted from now on; nil for plain HTTP.
    var tls: TLSContext?

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

    mutating func endConnection(_ number: Int, _ end: RecordedConnection.End) {
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
