/// The states of an operation: which changes are possible, and which actions go with them. No I/O, no queue.
struct OperationMachine: Sendable {
    private(set) var phase = OperationPhase.ready
    /// The number of the attempt: a call for a former attempt has no effect.
    private(set) var attempt = 0
    private(set) var isCancelled = false
    /// Whether `networkingOperationDidStart` was posted, and not yet `networkingOperationDidFinish`.
    private(set) var isAnnounced = false

    /// Whether it was started while it was paused.
    private var wasAsked = false

    /// Whether it has been started. A queue starts an operation only once.
    var hasBegun: Bool { attempt > 0 || wasAsked }

    enum Start: Equatable {
        case nothing
        /// A new attempt.
        case connect(attempt: Int)
        /// It was cancelled before.
        case fail
    }

    /// - Parameter mayRun: Whether its dependencies have finished.
    mutating func start(mayRun: Bool) -> Start {
        // A queue takes an operation that is ready, and starts it a moment later, but only once.
        if phase == .paused { wasAsked = true }
        guard phase == .ready else { return .nothing }
        guard !isCancelled else { return .fail }
        guard mayRun else { return .nothing }
        begin()
        return .connect(attempt: attempt)
    }

    private mutating func begin() {
        phase = .executing
        attempt += 1
        isAnnounced = true
    }

    /// Nil if it cannot be paused; else what it did before.
    mutating func pause() -> OperationPhase? {
        guard phase == .ready || phase == .executing, !isCancelled else { return nil }
        defer { phase = .paused }
        return phase
    }

    enum Resume: Equatable {
        case nothing
        /// It had not begun: its queue or its owner starts it.
        case wait
        case connect(attempt: Int)
    }

    mutating func resume() -> Resume {
        guard phase == .paused else { return .nothing }
        guard hasBegun, !isCancelled else {
            phase = .ready
            return .wait
        }
        begin()
        return .connect(attempt: attempt)
    }

    enum Cancel: Equatable {
        case nothing
        /// It is flagged, and fails when it is started.
        case flag
        /// The same; it was paused, and is ready now.
        case wait
        /// It fails now.
        case fail
    }

    mutating func cancel() -> Cancel {
        guard phase != .finished, !isCancelled else { return .nothing }
        isCancelled = true
        switch phase {
        case .executing: return .fail
        case .paused where hasBegun: return .fail
        case .paused:
            phase = .ready
            return .wait
        case .ready: return .flag
        case .finished: return .nothing
        }
    }

    /// False if it is over, or was not begun and not cancelled either.
    mutating func finish() -> Bool {
        guard phase == .executing || (isCancelled && phase != .finished) else { return false }
        phase = .finished
        return true
    }

    /// Whether `networkingOperationDidFinish` must be posted now.
    mutating func takeAnnouncement() -> Bool {
        defer { isAnnounced = false }
        return isAnnounced
    }
}
