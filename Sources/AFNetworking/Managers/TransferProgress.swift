import Foundation

/// How much of its bodies a task has sent and received.
public struct TransferProgress: Sendable, Hashable {
    /// Bytes of the request's body that were sent.
    public private(set) var sent: Int64 = 0
    /// Bytes to send; -1 while unknown.
    public private(set) var expectedToSend: Int64 = -1
    /// Bytes of the response's body that have arrived.
    public private(set) var received: Int64 = 0
    /// Bytes to receive; -1 while unknown.
    public private(set) var expectedToReceive: Int64 = -1

    init() {}

    /// From 0 to 1: how much of the body was sent; nil if the total is unknown.
    public var fractionSent: Double? { TransferProgress.fraction(sent, of: expectedToSend) }

    /// From 0 to 1: how much of the body has arrived; nil if the total is unknown.
    public var fractionReceived: Double? { TransferProgress.fraction(received, of: expectedToReceive) }

    private static func fraction(_ part: Int64, of whole: Int64) -> Double? {
        whole > 0 ? min(Double(part) / Double(whole), 1) : nil
    }

    mutating func advance(_ direction: TaskRecord.Direction, to completed: Int64, of total: Int64) {
        switch direction {
        case .upload: (sent, expectedToSend) = (completed, total)
        case .download: (received, expectedToReceive) = (completed, total)
        }
    }

    func counts(_ direction: TaskRecord.Direction) -> (completed: Int64, total: Int64) {
        direction == .upload ? (sent, expectedToSend) : (received, expectedToReceive)
    }
}

// MARK: - Progress

extension TaskRecord {
    enum Direction {
        case upload
        case download
    }

    /// Made at the first call: most tasks never need one.
    func progress(_ direction: Direction) -> Progress {
        if let existing = state.withLock({ $0[direction] }) { return existing }
        let made = makeProgress(parent: nil)
        return state.withLock { state in
            if let winner = state[direction] { return winner }
            state[direction] = made
            state.update(direction)
            return made
        }
    }

    /// The progress of an upload or a download that is made while another progress is current becomes its child.
    func adoptCurrentProgress(_ task: URLSessionTask) {
        let direction: Direction
        switch task {
        case is URLSessionUploadTask: direction = .upload
        case is URLSessionDownloadTask: direction = .download
        default: return
        }
        guard let parent = Progress.current() else { return }
        let made = makeProgress(parent: parent)
        state.withLock { $0[direction] = made }
    }

    private func makeProgress(parent: Progress?) -> Progress {
        let made = Progress(parent: parent)
        made.totalUnitCount = parent == nil ? NSURLSessionTransferSizeUnknown : 0
        made.isCancellable = true
        made.isPausable = true
        made.cancellationHandler = { [weak self] in self?.cancel() }
        made.pausingHandler = { [weak self] in self?.task.suspend() }
        made.resumingHandler = { [weak self] in self?.task.resume() }
        return made
    }

    /// Tells the handler and all streams of steps.
    func advanced(_ direction: Direction, to completed: Int64, of total: Int64) {
        let (handler, steps, progress) = state.withLock { state in
            state.progress.advance(direction, to: completed, of: total)
            state.update(direction)
            return (state.watchers[direction], Array(state.watchers.steps.values), state.progress)
        }
        if let handler { handler(self.progress(direction)) }
        for step in steps { step.yield(progress) }
    }

    /// The steps from now on.
    func steps() -> AsyncStream<TransferProgress> {
        let key = UUID()
        return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            continuation.onTermination = { [weak self] _ in
                _ = self?.state.withLock { $0.watchers.steps.removeValue(forKey: key) }
            }
            let hasEnded = state.withLock { state in
                guard !state.watchers.hasEnded else { return true }
                state.watchers.steps[key] = continuation
                continuation.yield(state.progress)
                return false
            }
            if hasEnded { continuation.finish() }
        }
    }

    func endSteps() {
        let steps = state.withLock { state in
            defer { (state.watchers.steps, state.watchers.hasEnded) = ([:], true) }
            return Array(state.watchers.steps.values)
        }
        for step in steps { step.finish() }
    }
}

extension TaskRecord.Watchers {
    subscript(direction: TaskRecord.Direction) -> TaskRecord.ProgressHandler? {
        direction == .upload ? upload : download
    }
}

extension TaskRecord.State {
    subscript(direction: TaskRecord.Direction) -> Progress? {
        get { direction == .upload ? upload : download }
        set { if direction == .upload { upload = newValue } else { download = newValue } }
    }

    /// Updates the `Progress` object, if there is one.
    func update(_ direction: TaskRecord.Direction) {
        guard let object = self[direction] else { return }
        let (completed, total) = progress.counts(direction)
        if total > 0 || object.totalUnitCount <= 0 { object.totalUnitCount = total }
        object.completedUnitCount = completed
    }
}
