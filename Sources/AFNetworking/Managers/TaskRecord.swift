import AFBase
import Dispatch
import Foundation

/// What a manager knows about one of its tasks.
///
/// The thread that makes the task makes its record. The manager then uses it on its operation queue; any thread may ask
/// for its progress.
final class TaskRecord: Sendable {
    typealias Completion = @Sendable (URLResponse?, Any?, (any Error)?) -> Void
    typealias ProgressHandler = @Sendable (Progress) -> Void
    typealias Destination = @Sendable (URL, URLResponse) -> URL

    /// What receives the steps of the task's progress.
    struct Watchers: Sendable {
        var upload: ProgressHandler?
        var download: ProgressHandler?
        var steps: [UUID: AsyncStream<TransferProgress>.Continuation] = [:]
        /// There are no further steps.
        var hasEnded = false
    }

    /// Options of one task that replace the manager's.
    struct Options: Sendable {
        /// Replaces the manager's serializer.
        var serializer: (any URLResponseSerialization)?
        /// Replaces the manager's completion queue.
        var completionQueue: DispatchQueue?
        /// Whether the completion handler only resumes a continuation, and may be called on any thread.
        var isAwaited = false
        /// Called in the place of the completion handler, with the data task that was made, even if it has become a
        /// download.
        var verb: (@Sendable (URLSessionDataTask, URLResponse?, Any?, (any Error)?) -> Void)?

        /// Takes these options. A queue or a verb that is not set here stays.
        mutating func apply(_ options: Options) {
            serializer = options.serializer
            isAwaited = options.isAwaited
            if let queue = options.completionQueue { completionQueue = queue }
            if let verb = options.verb { self.verb = verb }
        }

        /// Undoes ``apply(_:)``.
        mutating func remove(_ options: Options) {
            serializer = nil
            isAwaited = false
            if options.completionQueue != nil { completionQueue = nil }
            if options.verb != nil { verb = nil }
        }
    }

    struct State: Sendable {
        /// The task, or the download it has become. Held until it has ended: its completion handler is called even if
        /// the program has released the task.
        var task: URLSessionTask
        /// The data task that has become a download: its verb's handler receives it at the end, even if the program has
        /// released it.
        var former: URLSessionDataTask?
        /// Whether the task was cancelled through the record.
        var isCancelled = false
        var body = Data()
        var file: URL?
        /// Why the file could not be moved.
        var moveError: NSError?
        var metrics: URLSessionTaskMetrics?
        /// The error for the completion handler in the place of the session's, from a challenge. The task may still
        /// succeed on another connection.
        var error: (any Error)?
        /// The error for the completion handler even if the session reports none: the manager may refuse a body that
        /// has arrived in full.
        var refusal: URLError?
        var options = Options()
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
        _ options: Options = Options(),
        destination: Destination? = nil,
        completion: Completion?
    ) {
        self.destination = destination
        self.completion = completion
        state = Lock(State(task: task, options: options, watchers: watchers))
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

    /// Cancels the task, or the download it has become.
    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task.cancel()
    }
}

/// The records of a manager's tasks.
struct TaskRecords: Sendable {
    /// Tasks of different sessions may have the same number.
    private struct Key: Hashable {
        let session: ObjectIdentifier
        let task: Int
    }

    private var records: [Key: TaskRecord] = [:]
    /// How many tasks are being made. They have no records yet, and may end already.
    private var making = 0
    private var endedWithoutRecord: [Key: End] = [:]

    struct End: Sendable {
        let error: (any Error)?
    }

    var count: Int { records.count }

    subscript(task: URLSessionTask, session: URLSession) -> TaskRecord? {
        records[Key(session: ObjectIdentifier(session), task: task.taskIdentifier)]
    }

    mutating func add(_ record: TaskRecord, of task: URLSessionTask, in session: URLSession) {
        records[Key(session: ObjectIdentifier(session), task: task.taskIdentifier)] = record
    }

    mutating func beginMaking() { making += 1 }

    /// - Returns: How the task has ended, if it has.
    mutating func endMaking(_ task: URLSessionTask, in session: URLSession) -> End? {
        making -= 1
        defer { if making == 0 { endedWithoutRecord = [:] } }
        let key = Key(session: ObjectIdentifier(session), task: task.taskIdentifier)
        return endedWithoutRecord.removeValue(forKey: key)
    }

    /// Removes and returns the record of a task that has ended. While tasks are being made, remembers an end without a
    /// record.
    mutating func end(_ task: URLSessionTask, in session: URLSession, _ error: (any Error)?) -> TaskRecord? {
        if let record = remove(task, in: session) { return record }
        if making > 0 {
            endedWithoutRecord[Key(session: ObjectIdentifier(session), task: task.taskIdentifier)] = End(error: error)
        }
        return nil
    }

    mutating func remove(_ task: URLSessionTask, in session: URLSession) -> TaskRecord? {
        records.removeValue(forKey: Key(session: ObjectIdentifier(session), task: task.taskIdentifier))
    }

    /// Removes the records of a session that calls no more. A new session may get its address, and tasks of the same
    /// numbers.
    mutating func removeAll(of session: URLSession) -> [TaskRecord] {
        let session = ObjectIdentifier(session)
        endedWithoutRecord = endedWithoutRecord.filter { $0.key.session != session }
        let gone = records.filter { $0.key.session == session }
        for key in gone.keys { records[key] = nil }
        return Array(gone.values)
    }
}
