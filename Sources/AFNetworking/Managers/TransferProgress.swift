import AFBase
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

    /// What follows the progress of a task.
    struct Watch: Sendable {
        var uploadHandler: ProgressHandler?
        var downloadHandler: ProgressHandler?
        var steps: [UUID: AsyncStream<TransferProgress>.Continuation] = [:]
        var upload: Progress?
        var download: Progress?
        var progress = TransferProgress()

        init(uploadHandler: ProgressHandler? = nil, downloadHandler: ProgressHandler? = nil) {
            self.uploadHandler = uploadHandler
            self.downloadHandler = downloadHandler
        }

        /// Follows a task that may be under way.
        init(_ task: URLSessionTask) {
            let (sent, received) = (task.countOfBytesSent, task.countOfBytesReceived)
            if sent > 0 { progress.advance(.upload, to: sent, of: task.countOfBytesExpectedToSend) }
            if received > 0 { progress.advance(.download, to: received, of: task.countOfBytesExpectedToReceive) }
        }

        func handler(_ direction: Direction) -> ProgressHandler? {
            direction == .upload ? uploadHandler : downloadHandler
        }

        subscript(direction: Direction) -> Progress? {
            get { direction == .upload ? upload : download }
            set { if direction == .upload { upload = newValue } else { download = newValue } }
        }

        /// Updates the `Progress` object, if there is one.
        func update(_ direction: Direction) {
            guard let object = self[direction] else { return }
            let (completed, total) = progress.counts(direction)
            TaskRecord.progressTrees.withLock { _ in
                if total > 0 || object.totalUnitCount <= 0 { object.totalUnitCount = total }
                object.completedUnitCount = completed
            }
        }

        /// There are no further steps.
        func end() {
            for step in steps.values { step.finish() }
        }
    }

    /// Held while a progress changes: it changes its parent, which other tasks may share, and on Linux no progress has a
    /// lock of its own.
    private static let progressTrees = Lock(())

    /// Made at the first call: most tasks never need one. Nil if the task has ended.
    func progress(_ direction: Direction, of task: URLSessionTask) -> Progress? {
        if let existing = state.withLock({ $0.watch?[direction] }) { return existing }
        let made = makeProgress(of: task, parent: nil)
        return state.withLock { state in
            guard state.manager != nil else { return nil }
            var watch = state.watch ?? Watch(task)
            defer { state.watch = watch }
            if let winner = watch[direction] { return winner }
            watch[direction] = made
            watch.update(direction)
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
        let made = makeProgress(of: task, parent: parent)
        state.withLock { state in
            var watch = state.watch ?? Watch()
            watch[direction] = made
            state.watch = watch
        }
    }

    private func makeProgress(of task: URLSessionTask, parent: Progress?) -> Progress {
        let made = TaskRecord.progressTrees.withLock { _ in
            let made = Progress(parent: parent)
            made.totalUnitCount = parent == nil ? NSURLSessionTransferSizeUnknown : 0
            return made
        }
        made.isCancellable = true
        made.isPausable = true
        // Weak: the program may keep a progress for longer than the task.
        made.cancellationHandler = { [weak self, weak task] in
            if let task { self?.cancel(task) }
        }
        made.suspends { [weak self, weak task] in self?.present(task) }
        return made
    }

    /// The task, or the download it has become.
    private func present(_ task: URLSessionTask?) -> URLSessionTask? { state.withLock { $0.download } ?? task }

    /// Tells the handler and all streams of steps.
    func advanced(_ direction: Direction, of task: URLSessionTask, to completed: Int64, of total: Int64) {
        let watch = state.withLock { state in
            state.watch?.progress.advance(direction, to: completed, of: total)
            state.watch?.update(direction)
            return state.watch
        }
        guard let watch else { return }
        if let handler = watch.handler(direction), let progress = progress(direction, of: task) { handler(progress) }
        for step in watch.steps.values { step.yield(watch.progress) }
    }

    /// The steps from now on.
    func steps(of task: URLSessionTask) -> AsyncStream<TransferProgress> {
        let key = UUID()
        return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            continuation.onTermination = { [weak self] _ in
                _ = self?.state.withLock { $0.watch?.steps.removeValue(forKey: key) }
            }
            let isOpen = state.withLock { state in
                guard state.manager != nil else { return false }
                var watch = state.watch ?? Watch(task)
                watch.steps[key] = continuation
                continuation.yield(watch.progress)
                state.watch = watch
                return true
            }
            if !isOpen { continuation.finish() }
        }
    }
}
