import Dispatch
import Foundation

/// What a manager knows about one of its tasks.
///
/// Made by whoever makes the task, and then used on the manager's operation queue; its progress may be asked for by
/// anybody.
final class TaskRecord: Sendable {
    typealias Completion = @Sendable (URLResponse?, Any?, (any Error)?) -> Void
    typealias ProgressHandler = @Sendable (Progress) -> Void
    typealias Destination = @Sendable (URL, URLResponse) -> URL

    /// Sees each step of the task's progress.
    struct Watchers: Sendable {
        var upload: ProgressHandler?
        var download: ProgressHandler?
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
