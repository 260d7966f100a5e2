extension TestServer {
    /// Every request received so far, in the order of completion.
    public var requests: [RecordedRequest] { core.lock.read { $0.requests } }

    /// Every connection accepted so far, in order.
    public var connections: [RecordedConnection] { core.lock.read { $0.connections } }

    /// How many connections were accepted.
    public var acceptedConnections: Int { core.lock.read { $0.connections.count } }

    /// How many connections are open now.
    public var openConnections: Int { core.lock.read { $0.openConnections } }

    /// Forgets the requests received so far. Connections keep their numbers.
    public func forgetRequests() {
        core.lock.change { $0.requests = [] }
    }

    /// Waits until `count` requests were received since the start or since `forgetRequests()`.
    ///
    /// - Returns: All requests received so far.
    @discardableResult
    public func waitForRequests(
        _ count: Int,
        timeout: Duration = .seconds(10)
    ) throws(TestServerError) -> [RecordedRequest] {
        try wait(atMost: timeout, for: "\(count) requests") { $0.requests.count >= count ? $0.requests : nil }
    }

    /// Waits until `count` connections were accepted.
    ///
    /// - Returns: All connections accepted so far.
    @discardableResult
    public func waitForConnections(
        _ count: Int,
        timeout: Duration = .seconds(10)
    ) throws(TestServerError) -> [RecordedConnection] {
        try wait(atMost: timeout, for: "\(count) connections") { $0.connections.count >= count ? $0.connections : nil }
    }

    /// Waits until the connection with this number was accepted and has ended.
    ///
    /// - Returns: How it ended.
    @discardableResult
    public func waitForEnd(
        ofConnection number: Int,
        timeout: Duration = .seconds(10)
    ) throws(TestServerError) -> RecordedConnection.End {
        try wait(atMost: timeout, for: "the end of connection \(number)") { $0.end(ofConnection: number) }
    }

    /// Waits until no connection is open.
    ///
    /// - Returns: All connections accepted so far.
    @discardableResult
    public func waitUntilIdle(timeout: Duration = .seconds(10)) throws(TestServerError) -> [RecordedConnection] {
        try wait(atMost: timeout, for: "all connections to end") { $0.openConnections == 0 ? $0.connections : nil }
    }

    private func wait<Result>(
        atMost timeout: Duration,
        for goal: String,
        until body: (ServerState) -> Result?
    ) throws(TestServerError) -> Result {
        if let result = core.lock.wait(atMost: timeout, until: { body($0) }) { return result }
        throw core.lock.read { TestServerError.timedOut(waitingFor: goal, seen: $0.summary) }
    }

    /// Waits until `count` requests were received since the start or since `forgetRequests()`.
    ///
    /// Suspends, and blocks no thread of the Swift runtime. Throws `CancellationError` if the task is cancelled.
    ///
    /// - Returns: All requests received so far.
    @discardableResult
    public func waitForRequests(_ count: Int, timeout: Duration = .seconds(10)) async throws -> [RecordedRequest] {
        try await suspend(atMost: timeout, for: "\(count) requests") { $0.requests.count >= count ? $0.requests : nil }
    }

    /// Waits until `count` connections were accepted, like `waitForRequests(_:timeout:)`.
    ///
    /// - Returns: All connections accepted so far.
    @discardableResult
    public func waitForConnections(
        _ count: Int,
        timeout: Duration = .seconds(10)
    ) async throws -> [RecordedConnection] {
        try await suspend(atMost: timeout, for: "\(count) connections") {
            $0.connections.count >= count ? $0.connections : nil
        }
    }

    /// Waits until the connection with this number was accepted and has ended.
    ///
    /// - Returns: How it ended.
    @discardableResult
    public func waitForEnd(
        ofConnection number: Int,
        timeout: Duration = .seconds(10)
    ) async throws -> RecordedConnection.End {
        try await suspend(atMost: timeout, for: "the end of connection \(number)") { $0.end(ofConnection: number) }
    }

    /// Waits until no connection is open.
    ///
    /// - Returns: All connections accepted so far.
    @discardableResult
    public func waitUntilIdle(timeout: Duration = .seconds(10)) async throws -> [RecordedConnection] {
        try await suspend(atMost: timeout, for: "all connections to end") {
            $0.openConnections == 0 ? $0.connections : nil
        }
    }

    private func suspend<Result: Sendable>(
        atMost timeout: Duration,
        for goal: String,
        until body: @escaping @Sendable (ServerState) -> Result?
    ) async throws -> Result {
        // The result is in a lock because thread sanitizer does not see the order that a continuation gives.
        let result = Lock<Result?>(nil)
        let isCancelled = Lock(false)
        await withTaskCancellationHandler {
            await core.onThreadOfItsOwn { core in
                let found = core.lock.wait(atMost: timeout) { state -> Result?? in
                    if isCancelled.read({ $0 }) { return .some(nil) }
                    return body(state).map { .some($0) }
                }
                result.change { $0 = found ?? nil }
            }
        } onCancel: {
            isCancelled.change { $0 = true }
            core.lock.change { _ in }
        }
        if let result = result.read({ $0 }) { return result }
        try Task.checkCancellation()
        throw core.lock.read { TestServerError.timedOut(waitingFor: goal, seen: $0.summary) }
    }
}

extension ServerState {
    func end(ofConnection number: Int) -> RecordedConnection.End? {
        number >= 1 && number <= connections.count ? connections[number - 1].end : nil
    }

    /// What the server has recorded, for the message of a wait that timed out.
    var summary: String {
        let last = requests.suffix(5).map(\.description).joined(separator: ", ")
        return "\(connections.count) connections (\(openConnections) open) and \(requests.count) requests"
            + (last.isEmpty ? "" : ", the last ones \(last)")
    }
}

extension ServerCore {
    /// Runs blocking code on a new thread, because the Swift runtime has only as many threads as cores.
    fileprivate func onThreadOfItsOwn(_ body: @escaping @Sendable (ServerCore) -> Void) async {
        await withCheckedContinuation { continuation in
            do throws(SocketFailure) {
                let thread = try ServerThread(named: "AFTest wait") { [self] in
                    body(self)
                    continuation.resume()
                }
                thread.detach()
            } catch {
                body(self)
                continuation.resume()
            }
        }
    }
}
