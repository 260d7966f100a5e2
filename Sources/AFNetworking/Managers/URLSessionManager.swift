public import Dispatch
public import Foundation

// Every stored property is immutable or guarded by its own lock. An open class cannot have the compiler check that.
/// Owns a session, is its delegate, and makes its tasks: with a completion handler each that receives what the
/// response serializer has made of the response, with progress, and with a setter for a closure in the place of each
/// delegate method.
///
/// ```swift
/// let manager = URLSessionManager()
/// let task = manager.dataTask(with: request) { response, object, error in
///     print(object ?? "nothing", error ?? "fine")
/// }
/// task.resume()
/// ```
///
/// All methods and properties may be used from any thread. Completion handlers are called on ``completionQueue``,
/// which is the main queue unless you set one: **in a program whose main thread is blocked nothing arrives there**.
/// Everything else is called on ``operationQueue``.
///
/// The session holds its delegate, so a manager lives until its session is invalidated
/// (``invalidateSessionCancelingTasks(_:resetSession:)``). Make one for each server, and keep it.
open class URLSessionManager: NSObject, NSCopying, NSSecureCoding, ResponseSerializing, URLSessionDataDelegate,
    URLSessionDownloadDelegate, URLSessionTaskStateDelegate, @unchecked Sendable
{
    /// Hears of a progress when it has advanced. Called on ``operationQueue``.
    public typealias ProgressHandler = @Sendable (Progress) -> Void
    /// Receives the response, if there is one, what the serializer has made of it, and what went wrong. All three are
    /// possible at once.
    public typealias TaskCompletionHandler = @Sendable (URLResponse?, Any?, (any Error)?) -> Void
    /// Receives the response, if there is one, where the file was moved to, and what went wrong.
    public typealias DownloadCompletionHandler = @Sendable (URLResponse?, URL?, (any Error)?) -> Void
    /// Says where a file that lies at a temporary place for the time of the call shall be moved to.
    public typealias DownloadDestination = @Sendable (URL, URLResponse) -> URL

    struct State: Sendable {
        var session: URLSession?
        var world = World.system
        /// The session there is calls nobody any more.
        var isInvalidated = false
        /// Sessions before it that still do.
        var formerSessions: Set<ObjectIdentifier> = []
        var records = TaskRecords()
        var hooks = SessionHooks()
        var responseSerializer: any URLResponseSerialization = JSONResponseSerializer()
        var securityPolicy = SecurityPolicy()
        var hasOwnPolicy = false
        /// Who decides about servers, in the session there is.
        var trust = ServerJudge.challenges
        var reachabilityManager = NetworkReachabilityManager.shared
        var completionQueue: DispatchQueue?
        var completionGroup: DispatchGroup?

        /// Otherwise a task that is made there ends without a word.
        func mayStillEndTasks(of session: URLSession) -> Bool {
            session === self.session ? !isInvalidated : formerSessions.contains(ObjectIdentifier(session))
        }
    }

    static let processingQueue = DispatchQueue(
        label: "com.alamofire.networking.session.manager.processing",
        attributes: .concurrent
    )
    static let sharedCompletionGroup = DispatchGroup()

    /// Where the session calls its delegate, and so everything but completion handlers is called. Serial.
    public let operationQueue = URLSessionManager.makeOperationQueue()
    let sessionConfiguration: URLSessionConfiguration
    let state = Lock(State())

    /// A manager with a default session.
    public override convenience init() {
        self.init(sessionConfiguration: nil)
    }

    /// A manager with a session of this configuration; nil is the default configuration.
    ///
    /// If the configuration has a ``/AFTransport/TLSConfiguration/evaluator``, that decides about servers until
    /// ``securityPolicy`` is set.
    public init(sessionConfiguration configuration: URLSessionConfiguration?) {
        sessionConfiguration = configuration?.copied() ?? .default
        super.init()
    }

    private static func makeOperationQueue() -> OperationQueue {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.name = "com.alamofire.networking.session.manager.delegate"
        return queue
    }

    /// Whether a subclass may have methods in the place of those here, of the session's delegate among them.
    var mayHaveOverrides: Bool { type(of: self) != URLSessionManager.self }

    // MARK: - Settings

    /// What was there may run code when it goes: not under the lock.
    private func set<Value>(_ setting: WritableKeyPath<State, Value>, _ value: Value) {
        var value = value
        state.withLock { swap(&$0[keyPath: setting], &value) }
    }

    /// What `responseSerializer` is, whatever type that has in a subclass.
    var serializer: any URLResponseSerialization {
        get { state.withLock { $0.responseSerializer } }
        set { set(\.responseSerializer, newValue) }
    }

    /// Decides about servers. The default policy, unless set.
    ///
    /// It is asked inside the TLS handshake: to a server that it refuses no byte of a request is sent. A change, of the
    /// property or of the policy itself, meets every task that is resumed after it.
    open var securityPolicy: SecurityPolicy {
        get { state.withLock { $0.securityPolicy } }
        set {
            // What was there may run code when it goes: not under the lock.
            var policy = newValue
            state.withLock { state in
                swap(&state.securityPolicy, &policy)
                state.hasOwnPolicy = true
            }
            applyTrust()
        }
    }

    /// Watches the network: the one of the process, not started, unless set. The manager itself never asks it.
    open var reachabilityManager: NetworkReachabilityManager {
        get { state.withLock { $0.reachabilityManager } }
        set { set(\.reachabilityManager, newValue) }
    }

    /// Where completion handlers are called; nil, as it is at first, is the main queue.
    open var completionQueue: DispatchQueue? {
        get { state.withLock { $0.completionQueue } }
        set { set(\.completionQueue, newValue) }
    }

    /// The group that calls of completion handlers are part of; nil is one of our own.
    ///
    /// A call enters it when the task has ended, so waiting for the group is not waiting for tasks.
    open var completionGroup: DispatchGroup? {
        get { state.withLock { $0.completionGroup } }
        set { set(\.completionGroup, newValue) }
    }

    // MARK: - The session

    /// The session; made when it is first used.
    public var session: URLSession {
        let (session, isNew) = state.withLock { state in
            if let session = state.session { return (session, false) }
            let session = URLSession(
                configuration: configuration(for: &state),
                delegate: self,
                delegateQueue: operationQueue,
                world: state.world
            )
            state.session = session
            return (session, true)
        }
        if isNew { applyHooks(to: session) }
        return session
    }

    /// Ends the session. When its tasks have ended it lets go of the manager.
    ///
    /// Each task that was made completes, once: also one that was never resumed, one that is made meanwhile, and one that
    /// nothing holds but the manager.
    ///
    /// - Parameters:
    ///   - cancelPendingTasks: Whether tasks are cancelled, or may finish.
    ///   - resetSession: Whether the next use makes a new session of the same configuration. Otherwise tasks made from
    ///     now on fail, and say so to their completion handlers.
    open func invalidateSessionCancelingTasks(_ cancelPendingTasks: Bool, resetSession: Bool) {
        let session = session
        if cancelPendingTasks { session.invalidateAndCancel() } else { session.finishTasksAndInvalidate() }
        guard resetSession else { return }
        state.withLock { state in
            guard state.session === session else { return }
            if !state.isInvalidated { state.formerSessions.insert(ObjectIdentifier(session)) }
            state.session = nil
            state.isInvalidated = false
        }
    }

    // MARK: - Tasks there are

    /// All tasks that have not completed: data tasks, then uploads, then downloads.
    ///
    /// Waits for the network thread to answer, for some microseconds, wherever it is called; ``allTasks`` does not.
    public var tasks: [URLSessionTask] { tasks(\.all) }

    /// The data tasks that have not completed, without uploads. Waits as ``tasks``.
    public var dataTasks: [URLSessionDataTask] { tasks(\.data) }

    /// The uploads that have not completed. Waits as ``tasks``.
    public var uploadTasks: [URLSessionUploadTask] { tasks(\.uploads) }

    /// The downloads that have not completed. Waits as ``tasks``.
    public var downloadTasks: [URLSessionDownloadTask] { tasks(\.downloads) }

    /// All tasks that have not completed, in the order of ``tasks``.
    public var allTasks: [URLSessionTask] {
        get async {
            let (data, uploads, downloads) = await session.tasks
            return data + uploads + downloads
        }
    }

    private struct TaskLists: Sendable {
        var data: [URLSessionDataTask] = []
        var uploads: [URLSessionUploadTask] = []
        var downloads: [URLSessionDownloadTask] = []

        var all: [URLSessionTask] { data + uploads + downloads }
    }

    private func tasks<Tasks>(_ list: KeyPath<TaskLists, Tasks>) -> Tasks {
        let lists = Lock(TaskLists())
        let isHere = DispatchSemaphore(value: 0)
        // Answered on a queue that nobody else uses, so somebody who waits on any other gets the answer.
        session.getTasksWithCompletionHandler { data, uploads, downloads in
            lists.withLock { $0 = TaskLists(data: data, uploads: uploads, downloads: downloads) }
            isHere.signal()
        }
        isHere.wait()
        return lists.withLock { $0 }[keyPath: list]
    }

    // MARK: - Making tasks

    /// Makes a data task, suspended.
    ///
    /// Every data task of the manager is made here, those of the verbs of ``HTTPSessionManager`` too: the place to
    /// override.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - uploadProgressBlock: Hears how much of the request's body was sent.
    ///   - downloadProgressBlock: Hears how much of the response's body has arrived.
    ///   - completionHandler: Called once, on ``completionQueue``.
    open func dataTask(
        with request: URLRequest,
        uploadProgress uploadProgressBlock: ProgressHandler?,
        downloadProgress downloadProgressBlock: ProgressHandler?,
        completionHandler: TaskCompletionHandler?
    ) -> URLSessionDataTask {
        let watchers = TaskRecord.Watchers(upload: uploadProgressBlock, download: downloadProgressBlock)
        return make({ $0.dataTask(with: request) }) { TaskRecord($0, watchers, completion: completionHandler) }
    }

    /// Makes an upload of a file, suspended. The file is read while it is sent.
    ///
    /// - Parameters:
    ///   - request: What to send; its own body is ignored.
    ///   - fileURL: The file.
    ///   - uploadProgressBlock: Hears how much of it was sent.
    ///   - completionHandler: Called once, on ``completionQueue``.
    open func uploadTask(
        with request: URLRequest,
        fromFile fileURL: URL,
        progress uploadProgressBlock: ProgressHandler?,
        completionHandler: TaskCompletionHandler?
    ) -> URLSessionUploadTask {
        makeUpload(uploadProgressBlock, completionHandler) { $0.uploadTask(with: request, fromFile: fileURL) }
    }

    /// Makes an upload of bytes, suspended.
    ///
    /// - Parameters:
    ///   - request: What to send; its own body is ignored.
    ///   - bodyData: The bytes; nil are none.
    ///   - uploadProgressBlock: Hears how much of them was sent.
    ///   - completionHandler: Called once, on ``completionQueue``.
    open func uploadTask(
        with request: URLRequest,
        from bodyData: Data?,
        progress uploadProgressBlock: ProgressHandler?,
        completionHandler: TaskCompletionHandler?
    ) -> URLSessionUploadTask {
        makeUpload(uploadProgressBlock, completionHandler) { $0.uploadTask(with: request, from: bodyData ?? Data()) }
    }

    /// Makes an upload of the request's body stream, suspended.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - uploadProgressBlock: Hears how much was sent. The total is that of the request's `Content-Length`.
    ///   - completionHandler: Called once, on ``completionQueue``.
    open func uploadTask(
        withStreamedRequest request: URLRequest,
        progress uploadProgressBlock: ProgressHandler?,
        completionHandler: TaskCompletionHandler?
    ) -> URLSessionUploadTask {
        makeUpload(uploadProgressBlock, completionHandler) { $0.uploadTask(withStreamedRequest: request) }
    }

    /// Makes a download, suspended.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - downloadProgressBlock: Hears how much has arrived.
    ///   - destination: Says where the file is moved to, on ``operationQueue``. A file that is there already is not
    ///     replaced. Nil leaves the file to ``setDownloadTaskDidFinishDownloadingBlock(_:)``; without either it is
    ///     deleted.
    ///   - completionHandler: Called once, on ``completionQueue``.
    open func downloadTask(
        with request: URLRequest,
        progress downloadProgressBlock: ProgressHandler?,
        destination: DownloadDestination?,
        completionHandler: DownloadCompletionHandler?
    ) -> URLSessionDownloadTask {
        makeDownload(downloadProgressBlock, destination, completionHandler) { $0.downloadTask(with: request) }
    }

    /// Makes a download that goes on where another one ended, suspended.
    ///
    /// - Parameters:
    ///   - resumeData: Of `cancel(byProducingResumeData:)`, or of the error of a download that failed.
    ///   - downloadProgressBlock: Hears how much has arrived, the former part included.
    ///   - destination: As for ``downloadTask(with:progress:destination:completionHandler:)``.
    ///   - completionHandler: Called once, on ``completionQueue``.
    open func downloadTask(
        withResumeData resumeData: Data,
        progress downloadProgressBlock: ProgressHandler?,
        destination: DownloadDestination?,
        completionHandler: DownloadCompletionHandler?
    ) -> URLSessionDownloadTask {
        makeDownload(downloadProgressBlock, destination, completionHandler) {
            $0.downloadTask(withResumeData: resumeData)
        }
    }

    // MARK: - Progress

    /// How much of its body a task of the manager has sent. Nil if it is not one, or has completed.
    ///
    /// Cancelling, pausing and resuming it does the same to the task.
    open func uploadProgress(for task: URLSessionTask) -> Progress? { record(of: task)?.progress(.upload) }

    /// How much of the response's body a task of the manager has received. Nil if it is not one, or has completed.
    ///
    /// Cancelling, pausing and resuming it does the same to the task.
    open func downloadProgress(for task: URLSessionTask) -> Progress? { record(of: task)?.progress(.download) }

    // MARK: - Coding and copying

    /// Managers can be archived securely.
    open class var supportsSecureCoding: Bool { true }

    /// Reads the settings of the session. The manager's own, its closures and queues among them, are as in a new one.
    ///
    /// Copies are made by it too, of a coder without values: a subclass that writes it and is copied calls super.
    public required init?(coder: NSCoder) {
        sessionConfiguration =
            ManagerSeed(of: coder)?.configuration?.copied() ?? SessionConfigurationArchive.read(coder) ?? .default
        super.init()
    }

    /// Writes the settings of the session.
    open func encode(with coder: NSCoder) {
        SessionConfigurationArchive(sessionConfiguration).write(to: coder)
    }

    /// A new manager with a session of the same configuration. Closures, queues and the serializer are not carried
    /// over.
    open func copy(with zone: NSZone? = nil) -> Any {
        ManagerSeed(configuration: sessionConfiguration).manager(of: type(of: self))
    }

    /// Class, session and operation queue.
    open override var description: String {
        let address = String(UInt(bitPattern: ObjectIdentifier(self).hashValue), radix: 16)
        return "<\(type(of: self)): 0x\(address), session: \(session), operationQueue: \(operationQueue)>"
    }

    // MARK: - Delegate of the session
    //
    // Here, and not in extensions, so that subclasses can override them. They must call super, but for those that have a
    // completion handler: there it is that or an answer of their own.

    /// Calls the block for it, and posts that the session is invalid.
    open func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        becameInvalid(session, error)
    }

    /// Answers with the block for sessions; without one the method for challenges of tasks is asked.
    ///
    /// A subclass is asked about servers, too, once ``securityPolicy`` has accepted them.
    open func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        answer(challenge, in: session, completionHandler)
    }

    /// Answers with the handler for challenges, or with ``securityPolicy``.
    open func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        answer(challenge, of: task, in: session, completionHandler)
    }

    /// Posts `networkingTaskDidResume`.
    open func urlSession(_ session: URLSession, taskDidResume task: URLSessionTask) {
        announce(.networkingTaskDidResume, task, in: session)
    }

    /// Posts `networkingTaskDidSuspend`.
    open func urlSession(_ session: URLSession, taskDidSuspend task: URLSessionTask) {
        announce(.networkingTaskDidSuspend, task, in: session)
    }

    /// Asks the block for redirects. Without it the session's ``/AFURLSession/RedirectPolicy`` decides.
    open func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        if let redirect = hooks.taskWillRedirect {
            return completionHandler(redirect(session, task, response, request))
        }
        // Not the request: that would be consent to what the session's policy refuses.
        DefaultAnswers.given.urlSession(
            session,
            task: task,
            willPerformHTTPRedirection: response,
            newRequest: request,
            completionHandler: completionHandler
        )
    }

    /// Asks the block for streams, or copies that of the request.
    open func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(newBodyStream(of: task, in: session))
    }

    /// Tells the progress of the upload, and the block for it.
    open func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        sent(bytesSent, total: totalBytesSent, expected: totalBytesExpectedToSend, of: task, in: session)
    }

    /// Keeps the metrics for the notification, and tells the block for them.
    open func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        record(of: task, in: session)?.state.withLock { $0.metrics = metrics }
        hooks.taskDidFinishCollectingMetrics?(session, task, metrics)
    }

    /// Makes the object of the response, and calls the completion handler of the task.
    open func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        completed(task, in: session, error)
    }

    /// Asks the block for responses.
    open func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        completionHandler(hooks.dataTaskDidReceiveResponse?(session, dataTask, response) ?? .allow)
    }

    /// Hands the completion handler of the data task on to the download.
    open func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didBecome downloadTask: URLSessionDownloadTask
    ) {
        became(downloadTask, dataTask, in: session)
    }

    /// Fails the data task for its completion handler: the stream is nobody's but that of a subclass.
    open func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didBecome streamTask: URLSessionStreamTask
    ) {
        became(streamTask, dataTask, in: session)
    }

    /// Keeps the data for the serializer, and tells progress and the block for them.
    open func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        received(data, of: dataTask, in: session)
    }

    /// Asks the block for the cache.
    open func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        guard let change = hooks.dataTaskWillCacheResponse else { return completionHandler(proposedResponse) }
        completionHandler(change(session, dataTask, proposedResponse))
    }

    /// Moves the file to where it belongs.
    open func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        downloaded(downloadTask, to: location, in: session)
    }

    /// Tells the progress of the download, and the block for it.
    open func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        record(of: downloadTask, in: session)?
            .advanced(.download, to: totalBytesWritten, of: totalBytesExpectedToWrite)
        hooks.downloadTaskDidWriteData?(
            session,
            downloadTask,
            bytesWritten,
            totalBytesWritten,
            totalBytesExpectedToWrite
        )
    }

    /// Tells the progress of the download, and the block for it.
    open func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        record(of: downloadTask, in: session)?.advanced(.download, to: fileOffset, of: expectedTotalBytes)
        hooks.downloadTaskDidResume?(session, downloadTask, fileOffset, expectedTotalBytes)
    }
}

/// What makes objects of responses with a serializer: ``URLSessionManager``.
///
/// The property is here, and not in the class, so that a subclass can have it with a narrower type:
/// ``HTTPSessionManager/responseSerializer`` is an ``HTTPResponseSerializer``.
public protocol ResponseSerializing: AnyObject {}

extension ResponseSerializing where Self: URLSessionManager {
    /// Makes objects of responses: JSON, unless set. What is set when a task completes counts, not what was when it was
    /// made.
    ///
    /// A ``HTTPSessionManager`` puts a serializer that is no ``HTTPResponseSerializer`` into one.
    public var responseSerializer: any URLResponseSerialization {
        get { serializer }
        set { serializer = newValue }
    }
}
