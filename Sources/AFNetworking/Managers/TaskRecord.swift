import AFBase
import Dispatch
import Foundation

/// Makes tasks, and completes them.
protocol TaskManager: AnyObject, Sendable {
    /// A task has ended: enters the completion group, and returns where the session tells the task's record. Called once,
    /// on the network thread.
    func prepareEnd(bodyLength: Int, record: inout TaskRecord.State) -> TaskEndPlace

    /// - Parameter place: Where this is called.
    func completed(
        _ task: URLSessionTask,
        record: TaskRecord?,
        body: Data,
        error: (any Error)?,
        on place: TaskEndPlace
    )
}

/// How the task of a verb has ended.
struct VerbOutcome {
    /// The data task that the verb made, even if it has become a download.
    let task: URLSessionDataTask?
    let response: URLResponse?
    let object: Any?
    let error: (any Error)?
}

/// What a manager knows about one of its tasks. The task refers to it from the beginning, and the manager finds it there.
///
/// The thread that makes the task makes its record. The manager then uses it on its operation queue; any thread may ask
/// for its progress.
final class TaskRecord: Sendable {
    typealias ProgressHandler = @Sendable (Progress) -> Void
    typealias Destination = @Sendable (URL, URLResponse) -> URL

    /// What is called when the task has ended.
    enum Completion: Sendable {
        case none
        case handler(@Sendable (URLResponse?, Any?, (any Error)?) -> Void)
        case download(@Sendable (URLResponse?, URL?, (any Error)?) -> Void)
        /// The closures of a verb. They receive the data task that the verb made, even if it has become a download.
        case verb(
            success: (@Sendable (URLSessionDataTask, Any?) -> Void)?,
            failure: (@Sendable (URLSessionDataTask?, any Error) -> Void)?
        )
        /// The Swift task that awaits a verb. It makes the object of a small response itself.
        case awaited(Awaited<@Sendable () -> VerbOutcome>)

        /// - Parameter made: The data task that the caller made, if it was one.
        func call(_ made: URLSessionDataTask?, response: URLResponse?, object: Any?, error: (any Error)?) {
            switch self {
            case .none: break
            case .handler(let handler): handler(response, object, error)
            case .download(let handler): handler(response, object as? URL, error)
            case .verb(let success, let failure):
                if let error { failure?(made, error) } else if let made { success?(made, object) }
            case .awaited(let caller):
                let outcome = HandedOver(VerbOutcome(task: made, response: response, object: object, error: error))
                caller.set { outcome.value }
            }
        }
    }

    /// Options of one task that replace the manager's.
    struct Options: Sendable {
        /// Replaces the manager's serializer.
        var serializer: (any URLResponseSerialization)?
        /// Replaces the manager's completion queue.
        var completionQueue: DispatchQueue?
        /// Whether the completion handler only resumes a continuation, and may be called on any thread.
        var isAwaited = false

        /// Takes these options. A queue that is not set here stays.
        mutating func apply(_ options: Options) {
            serializer = options.serializer
            isAwaited = options.isAwaited
            if let queue = options.completionQueue { completionQueue = queue }
        }

        /// Undoes ``apply(_:)``.
        mutating func remove(_ options: Options) {
            serializer = nil
            isAwaited = false
            if options.completionQueue != nil { completionQueue = nil }
        }
    }

    struct State: Sendable {
        /// Nil once the task has ended. The record then holds nothing any more: a program may keep the task.
        var manager: (any TaskManager)?
        var completion: Completion
        var options: Options
        var destination: Destination?
        /// The download that the task has become.
        var download: URLSessionDownloadTask?
        /// The data task that has become a download: its verb's closures receive it at the end, even if the program has
        /// released it.
        var former: URLSessionDataTask?
        /// Whether the task was cancelled through the record.
        var isCancelled = false
        /// The body, if the session calls the manager with its parts.
        var body = Data()
        var file: URL?
        /// Why the file could not be moved.
        var moveError: NSError?
        /// The error for the completion handler in the place of the session's, from a challenge. The task may still
        /// succeed on another connection.
        var error: (any Error)?
        /// The error for the completion handler even if the session reports none: the manager may refuse a body that
        /// has arrived in full.
        var refusal: URLError?
        /// The completion group, if the manager has entered it for this task.
        var enteredGroup: DispatchGroup?
        /// Nil as long as no caller follows the progress.
        var watch: Watch?
    }

    let state: Lock<State>

    init(
        by manager: any TaskManager,
        completion: Completion,
        options: Options = Options(),
        destination: Destination? = nil,
        upload: ProgressHandler? = nil,
        download: ProgressHandler? = nil
    ) {
        let isWatched = upload != nil || download != nil
        state = Lock(
            State(
                manager: manager,
                completion: completion,
                options: options,
                destination: destination,
                watch: isWatched ? Watch(uploadHandler: upload, downloadHandler: download) : nil
            )
        )
    }

    /// Whether the manager is this one, and the task has not ended.
    func isOpen(by manager: any TaskManager) -> Bool { state.withLock { $0.manager === manager } }
}

extension TaskRecord: TaskReceiver {
    var isWatched: Bool { state.withLock { $0.watch != nil } }

    func advanced(_ task: URLSessionTask) {
        advanced(.download, of: task, to: task.countOfBytesReceived, of: task.countOfBytesExpectedToReceive)
    }

    func prepareEnd(bodyLength: Int) -> TaskEndPlace {
        state.withLock { state in
            // The steps of a progress are called on the delegate queue, and come before the end.
            guard state.watch == nil, let manager = state.manager else { return .delegateQueue }
            return manager.prepareEnd(bodyLength: bodyLength, record: &state)
        }
    }

    func ended(_ task: URLSessionTask, body: Data, error: (any Error)?, on place: TaskEndPlace) {
        guard let manager = state.withLock({ $0.manager }) else { return }
        manager.completed(task, record: self, body: body, error: error, on: place)
    }
}

// MARK: - Becoming another task

extension TaskRecord {
    /// True if it was cancelled in the moment between the two tasks, when neither could be.
    func becomes(_ download: URLSessionDownloadTask, after former: URLSessionDataTask) -> Bool {
        state.withLock { state in
            state.download = download
            state.former = former
            return state.isCancelled
        }
    }

    /// Cancels the task, or the download it has become.
    func cancel(_ task: URLSessionTask) {
        let download = state.withLock { state in
            state.isCancelled = true
            return state.download
        }
        (download ?? task).cancel()
    }
}
