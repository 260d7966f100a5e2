import Dispatch
import Foundation

/// What a manager knows about one of its tasks.
///
/// Made by whoever makes the task, and then used on the manager's operation queue; its progress may be asked for by
/// anybody.
final class TaskRecord: Sendable {
    typealias Completion = @Sendable (URLResponse?, Any?, (any Error)?) -> Void
    typealias Destination = @Sendable (URL, URLResponse) -> URL

    /// Sees each step of the task's progress.
    struct Watchers: Sendable {
        var upload: URLSessionManager.ProgressHandler?
        var download: URLSessionManager.ProgressHandler?
        var steps: [UUID: AsyncStream<TransferProgress>.Continuation] = [:]
        /// There are no further steps.
        var hasEnded = false
    }

    /// What is done for one task in another way than for all.
    struct Wishes: Sendable {
        /// In the place of the manager's.
        var serializer: (any URLResponseSerialization)?
        /// Where the completion handler is called, in the place of the manager's queue.
        var completionQueue: DispatchQueue?
        /// Whether the completion handler resumes somebody who awaits it, and needs no queue for that.
        var isAwaited = false
        /// In the place of the completion handler; with the task that was made, whatever that has become.
        var verb: (@Sendable (URLSessionDataTask, URLResponse?, Any?, (any Error)?) -> Void)?

        /// Leaves alone what others say of no concern to these.
        mutating func follow(_ wishes: Wishes) {
            serializer = wishes.serializer
            isAwaited = wishes.isAwaited
            if let queue = wishes.completionQueue { completionQueue = queue }
            if let verb = wishes.verb { self.verb = verb }
        }

        /// As if there had been none of these.
        mutating func forget(_ wishes: Wishes) {
            serializer = nil
            isAwaited = false
            if wishes.completionQueue != nil { completionQueue = nil }
            if wishes.verb != nil { verb = nil }
        }
    }

    struct State: Sendable {
        /// The download, once the task has become one. Held until it has ended: whoever made it may have dropped it, and
        /// its completion handler is called nevertheless.
        var task: URLSessionTask
        /// The data task that has become a download: whoever made it is given it at the end, and may hold it no more.
        var former: URLSessionDataTask?
        /// Cancelled here, and not only the task.
        var isCancelled = false
        var body = Data()
        var file: URL?
        /// Why the file is not where it was wanted.
        var moveError: NSError?
        var metrics: URLSessionTaskMetrics?
        /// What the completion handler hears in the place of the error that the session says. Of a handshake: the task may
        /// be served by another connection nevertheless.
        var error: (any Error)?
        /// What it hears in any case: a body may be refused when all of it is here, and the session knows of no error.
        var refusal: URLError?
        var wishes = Wishes()
        var watchers: Watchers
        var upload: Progress?
        var download: Progress?
        var progress = TransferProgress()
    }

    let completion: Completion?
    let destination: Destination?
    let state: Lock<State>

    init(
        _ task: URLSessionTask,
        _ watchers: Watchers = Watchers(),
        _ wishes: Wishes = Wishes(),
        destination: Destination? = nil,
        completion: Completion?
    ) {
        self.destination = destination
        self.completion = completion
        state = Lock(State(task: task, wishes: wishes, watchers: watchers))
        adoptCurrentProgress(task)
    }

    var task: URLSessionTask { state.withLock { $0.task } }
}

// MARK: - Becoming another task

extension TaskRecord {
    /// True if it was cancelled in the moment between the two tasks, when neither could be.
    func becomes(_ download: URLSessionDownloadTask, after former: URLSessionDataTask) -> Bool {
        state.withLock { state in
            state.task = download
            state.former = former
            return state.isCancelled
        }
    }

    /// Cancels the task, whichever it is by now.
    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task.cancel()
    }
}

// MARK: - Progress

extension TaskRecord {
    enum Direction {
        case upload
        case download
    }

    /// Made when it is first asked for: most tasks are never asked.
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

    /// An upload or a download that is made while a progress is current becomes part of that.
    private func adoptCurrentProgress(_ task: URLSessionTask) {
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

    /// Tells everybody who watches.
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
    subscript(direction: TaskRecord.Direction) -> URLSessionManager.ProgressHandler? {
        direction == .upload ? upload : download
    }
}

extension TaskRecord.State {
    subscript(direction: TaskRecord.Direction) -> Progress? {
        get { direction == .upload ? upload : download }
        set { if direction == .upload { upload = newValue } else { download = newValue } }
    }

    /// Brings the progress, if somebody has asked for it, to where the task is.
    func update(_ direction: TaskRecord.Direction) {
        guard let object = self[direction] else { return }
        let (completed, total) = progress.counts(direction)
        if total > 0 || object.totalUnitCount <= 0 { object.totalUnitCount = total }
        object.completedUnitCount = completed
    }
}
