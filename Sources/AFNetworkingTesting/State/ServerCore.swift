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

    init(listener: Listener, tls: ServerTLSContext?, options: TestServerOptions) {
        self.listener = listener
        self.options = options
        lock.change { $0.tls = tls }
    }

    // MARK: - Instructions

    func add(_ route: ServerRoute) {
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
