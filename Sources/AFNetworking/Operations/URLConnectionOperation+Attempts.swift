import AFBase
import Foundation

/// Attempts to load, each with a connection of its own. All of this runs where the connection is scheduled.
extension URLConnectionOperation {
    func connect(_ attempt: Int) {
        guard let plan = planAttempt(attempt) else { return }
        switch plan {
        case .failure(let error): finish(with: error)
        case .success(let request):
            let made = state.withLock { $0.world }.makeConnection(request, self)
            guard let made else { return finish(with: ClientFailure.operationWithoutURL.urlError(for: nil)) }
            let (scheduler, modes, rules) = state.withLock { state in
                let rules = state.isCurrent(attempt) ? OperationTrustRules(state) : nil
                if let rules { (state.connection, state.trustRules) = (made, rules) }
                return (state.chooseScheduler(), state.runLoopModes, rules)
            }
            guard let rules else { return }
            if let tls = rules.tls { made.tls = tls.configuration }
            scheduler.schedule(made, in: modes)
            made.startHere()
        }
    }

    /// Nil if the attempt is wanted no more; else what to send.
    private func planAttempt(_ attempt: Int) -> Result<URLRequest, any Error>? {
        let (isWanted, sink, continues) = state.withLock { state in
            if state.sink == nil { state.sink = ResponseSink() }
            state.trustError = nil
            state.dropForeignPart()
            return (state.isCurrent(attempt), state.sink, state.continuesAt != nil)
        }
        guard isWanted, let sink else { return nil }
        if !continues, !startOver(sink) { return .failure(sink.failure(.notRewindable)) }
        var (opened, request) = state.withLock { ($0.sink, $0.request) }
        opened?.open()
        if let error = opened?.openingError(for: request.url) { return .failure(error) }
        // The stream itself is for one attempt, of this operation or of a copy.
        if let stream = request.copyOfStream { request.httpBodyStream = stream }
        return .success(request)
    }

    /// Rewinds the sink. False if it cannot be rewound.
    func startOver(_ sink: ResponseSink) -> Bool {
        guard let rewound = sink.rewound() else { return false }
        state.withLock { state in
            if state.sink === sink { state.sink = rewound }
            state.totalBytesRead = 0
            state.continuesAt = nil
        }
        return true
    }

    func cancelConnection() {
        let (connection, url) = state.withLock { state in
            defer { state.connection = nil }
            return (state.connection, state.request.url)
        }
        connection?.cancel()
        finish(with: LoadError.cancelled.urlError(for: url))
    }

    /// Drops the connection and makes another, from the beginning.
    func loadAgain() {
        let (connection, attempt) = state.withLock { state in
            defer {
                state.connection = nil
                state.continuesAt = nil
            }
            return (state.connection, state.machine.attempt)
        }
        connection?.cancel()
        self.connect(attempt)
    }

    /// Whether events of the connection count. After a cancel none does, also those that are on their way.
    func isCurrent(_ connection: URLConnection) -> Bool {
        state.withLock { $0.isCurrent(connection) }
    }
}

extension OperationState {
    /// Chosen when it is first needed, and kept: the work of one operation runs in one place, in order.
    mutating func chooseScheduler() -> ConnectionScheduler {
        if let scheduler { return scheduler }
        let isInMemory = sink?.isMemory ?? true
        let chosen = isInMemory ? ConnectionScheduler.networkThread(world) : ConnectionScheduler.ownQueue()
        // A pause before the start decides nothing.
        if machine.hasBegun || machine.isCancelled { scheduler = chosen }
        return chosen
    }

    func isCurrent(_ connection: URLConnection) -> Bool {
        self.connection === connection && !machine.isCancelled
    }

    func isCurrent(_ attempt: Int) -> Bool {
        machine.phase == .executing && machine.attempt == attempt && !machine.isCancelled
    }
}
