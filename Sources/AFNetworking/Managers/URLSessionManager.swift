import AFBase
public import Dispatch
public import Foundation

// Unchecked: every stored property is constant or locked, which the compiler cannot check in an open class.
/// Owns a session, is its delegate, and makes its tasks. The completion handler of a task receives the object that the
/// response serializer made of the response; tasks report their progress; and each delegate method has a setter for a
/// closure in its place.
///
/// ```swift
/// let manager = URLSessionManager()
/// let task = manager.dataTask(with: request) { response, object, error in
///     print(object ?? "nothing", error ?? "fine")
/// }
/// task.resume()
/// ```
///
/// All methods and properties may be used from any thread. Completion handlers are called on ``completionQueue``, which
/// is the main queue unless you set one: **while the main thread is blocked, none is called**. All other closures are
/// called on ``operationQueue``.
///
/// A manager lives as long as the program refers to it, or one of its tasks runs or was never resumed. Then its session ends
/// and closes the connections. Make one for each server, and keep it: another one has to connect anew.
open class URLSessionManager: NSObject, NSCopying, NSSecureCoding, ResponseSerializing, URLSessionDataDelegate,
    URLSessionDownloadDelegate, URLSessionTaskStateDelegate, @unchecked Sendable
{
    /// Receives a progress each time it advances. Called on ``operationQueue``.
    public typealias ProgressHandler = @Sendable (Progress) -> Void
    /// Receives the response, the object that the serializer made of it, and the error. Each may be nil, and all three
    /// are possible at once.
    public typealias TaskCompletionHandler = @Sendable (URLResponse?, Any?, (any Error)?) -> Void
    /// Receives the response, the URL the file was moved to, and the error. Each may be nil.
    public typealias DownloadCompletionHandler = @Sendable (URLResponse?, URL?, (any Error)?) -> Void
    /// Receives the temporary URL of a downloaded file and the response, and returns where the manager moves the file.
    public typealias DownloadDestination = @Sendable (URL, URLResponse) -> URL

    struct State: Sendable {
        var session: URLSession?
        var world = World.system
        var hooks = SessionHooks()
        var responseSerializer: any URLResponseSerialization = JSONResponseSerializer()
        var securityPolicy = SecurityPolicy()
        var hasOwnPolicy = false
        /// What decides about servers in the present session.
        var trust = TrustSource.challenges(ChallengeRules())
        var reachabilityManager = NetworkReachabilityManager.shared
        var completionQueue: DispatchQueue?
        var completionGroup: DispatchGroup?
        /// The text of ``URLSessionManager/addressText``, once it was asked for.
        var address: String?
    }

    static let processingQueue = DispatchQueue(
        label: "com.alamofire.networking.session.manager.processing",
        attributes: .concurrent
    )

    /// The serial queue on which the session calls its delegate, and the manager all closures but completion handlers.
    public var operationQueue: OperationQueue { callbackQueue.queue }

    let callbackQueue = DelegateQueue(named: "com.alamofire.networking.session.manager.delegate")
    let sessionConfiguration: URLSessionConfiguration
    let state = Lock(State())
    let trust: ManagerTrust

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
        trust = ManagerTrust(state: state, besides: sessionConfiguration.tls.evaluator)
        super.init()
        watch(state.withLock { $0.securityPolicy })
    }

    /// Whether the object is of a subclass, which may override methods, those of the session's delegate among them.
    var mayHaveOverrides: Bool { type(of: self) != URLSessionManager.self }

    // MARK: - Settings

    /// The value of `responseSerializer`, which has a narrower type in a subclass.
    var serializer: any URLResponseSerialization {
        get { state.withLock { $0.responseSerializer } }
        set { state.set(\.responseSerializer, newValue) }
    }

    /// Decides which servers the session trusts. The default policy, unless set.
    ///
    /// The session asks it inside the TLS handshake, and sends no byte of a request to a server that it refuses. A
    /// change, of the property or of the policy itself, applies to every task that is resumed after it.
    open var securityPolicy: SecurityPolicy {
        get { state.withLock { $0.securityPolicy } }
        set {
            // Before it is in use: no change is overlooked.
            watch(newValue)
            // Release the former policy after the lock: its deinit may run the program's code.
            var policy = newValue
            state.withLock { state in
                swap(&state.securityPolicy, &policy)
                state.hasOwnPolicy = true
            }
            trust.apply()
        }
    }

    /// Watches the network: the shared manager, which is not started, unless set. The manager itself never uses it.
    open var reachabilityManager: NetworkReachabilityManager {
        get { state.withLock { $0.reachabilityManager } }
        set { state.set(\.reachabilityManager, newValue) }
    }

    /// Where completion handlers are called; nil, as it is at first, is the main queue.
    open var completionQueue: DispatchQueue? {
        get { state.withLock { $0.completionQueue } }
        set { state.set(\.completionQueue, newValue) }
    }

    /// The group in which completion handlers are called; nil is a private one.
    ///
    /// The manager enters it when a task has ended: waiting for the group does not wait for running tasks.
    open var completionGroup: DispatchGroup? {
        get { state.withLock { $0.completionGroup } }
        set { state.set(\.completionGroup, newValue) }
    }

    // MARK: - The session

    /// The session; made when it is first used.
    public var session: URLSession {
        let (session, isNew) = state.withLock { state in
            if let session = state.session { return (session, false) }
            let session = URLSession(
                configuration: configuration(for: &state),
                delegate: self,
                callbackQueue: callbackQueue,
                world: state.world,
                holdsDelegate: false
            )
            state.session = session
            return (session, true)
        }
        if isNew { applyHooks(to: session) }
        return session
    }

    /// Invalidates the session. When its tasks have ended it releases the manager.
    ///
    /// Each task completes once, also one that was never resumed, one that is made meanwhile, and one that only the
    /// manager holds.
    ///
    /// - Parameters:
    ///   - cancelPendingTasks: Whether tasks are cancelled, or may finish.
    ///   - resetSession: Whether the next use makes a new session of the same configuration. Otherwise tasks made from
    ///     now on fail, and their completion handlers receive the error.
    open func invalidateSessionCancelingTasks(_ cancelPendingTasks: Bool, resetSession: Bool) {
        let session = session
        if cancelPendingTasks { session.invalidateAndCancel() } else { session.finishTasksAndInvalidate() }
        guard resetSession else { return }
        state.withLock { state in
            if state.session === session { state.session = nil }
        }
    }

    // MARK: - Tasks there are

    /// All tasks that have not completed: data tasks, then uploads, then downloads.
    ///
    /// Blocks for some microseconds, until the network thread answers; ``allTasks`` does not. On the network thread itself
    /// it answers at once.
    public var tasks: [URLSessionTask] {
        let all = session.waitForAllTasks()
        return dataTasks(among: all) + all.filter { $0 is URLSessionUploadTask }
            + all.filter { $0 is URLSessionDownloadTask }
    }

    /// The data tasks that have not completed, without uploads. Blocks as ``tasks`` does.
    public var dataTasks: [URLSessionDataTask] { dataTasks(among: session.waitForAllTasks()) }

    /// The uploads that have not completed. Blocks as ``tasks`` does.
    public var uploadTasks: [URLSessionUploadTask] {
        session.waitForAllTasks().compactMap { $0 as? URLSessionUploadTask }
    }

    /// The downloads that have not completed. Blocks as ``tasks`` does.
    public var downloadTasks: [URLSessionDownloadTask] {
        session.waitForAllTasks().compactMap { $0 as? URLSessionDownloadTask }
    }

    /// All tasks that have not completed, in the order of ``tasks``.
    public var allTasks: [URLSessionTask] {
        get async {
            let (data, uploads, downloads) = await session.tasks
            return data + uploads + downloads
        }
    }

    private func dataTasks(among all: [URLSessionTask]) -> [URLSessionDataTask] {
        all.filter { !($0 is URLSessionUploadTask) }.compactMap { $0 as? URLSessionDataTask }
    }

    // MARK: - Making tasks

    /// Makes a suspended data task.
    ///
    /// The manager makes every data task with this method, those of the verbs of ``HTTPSessionManager`` too: override
    /// it to change them.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - uploadProgressBlock: Receives how much of the request's body was sent.
    ///   - downloadProgressBlock: Receives how much of the response's body has arrived.
    ///   - completionHandler: Called once, on ``completionQueue``.
    @preconcurrency
    open func dataTask(
        with request: URLRequest,
        uploadProgress uploadProgressBlock: ProgressHandler?,
        downloadProgress downloadProgressBlock: ProgressHandler?,
        completionHandler: TaskCompletionHandler?
    ) -> URLSessionDataTask {
        let completion = completionHandler.map { TaskRecord.Completion.handler($0) } ?? .none
        let record = TaskRecord(
            by: self,
            completion: completion,
            upload: uploadProgressBlock,
            download: downloadProgressBlock
        )
        return make(record) { $0.dataTask(with: request, for: $1) }
    }

    /// Makes a suspended upload of a file, which is read while it is sent.
    ///
    /// - Parameters:
    ///   - request: What to send; its own body is ignored.
    ///   - fileURL: The file.
    ///   - uploadProgressBlock: Receives how much of it was sent.
    ///   - completionHandler: Called once, on ``completionQueue``.
    @preconcurrency
    open func uploadTask(
        with request: URLRequest,
        fromFile fileURL: URL,
        progress uploadProgressBlock: ProgressHandler?,
        completionHandler: TaskCompletionHandler?
    ) -> URLSessionUploadTask {
        makeUpload(request, body: .file(fileURL), progress: uploadProgressBlock, completion: completionHandler)
    }

    /// Makes a suspended upload of bytes.
    ///
    /// - Parameters:
    ///   - request: What to send; its own body is ignored.
    ///   - bodyData: The bytes; nil for none.
    ///   - uploadProgressBlock: Receives how much of them was sent.
    ///   - completionHandler: Called once, on ``completionQueue``.
    @preconcurrency
    open func uploadTask(
        with request: URLRequest,
        from bodyData: Data?,
        progress uploadProgressBlock: ProgressHandler?,
        completionHandler: TaskCompletionHandler?
    ) -> URLSessionUploadTask {
        makeUpload(
            request,
            body: .data(bodyData ?? Data()),
            progress: uploadProgressBlock,
            completion: completionHandler
        )
    }

    /// Makes a suspended upload of the request's body stream.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - uploadProgressBlock: Receives how much was sent. The total is that of the request's `Content-Length`.
    ///   - completionHandler: Called once, on ``completionQueue``.
    @preconcurrency
    open func uploadTask(
        withStreamedRequest request: URLRequest,
        progress uploadProgressBlock: ProgressHandler?,
        completionHandler: TaskCompletionHandler?
    ) -> URLSessionUploadTask {
        makeUpload(request, body: .streamed, progress: uploadProgressBlock, completion: completionHandler)
    }

    /// Makes a suspended download.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - downloadProgressBlock: Receives how much has arrived.
    ///   - destination: Returns where the manager moves the file; called on ``operationQueue``. An existing file is not
    ///     replaced. Nil leaves the file to ``setDownloadTaskDidFinishDownloadingBlock(_:)``; without either it is
    ///     deleted.
    ///   - completionHandler: Called once, on ``completionQueue``.
    @preconcurrency
    open func downloadTask(
        with request: URLRequest,
        progress downloadProgressBlock: ProgressHandler?,
        destination: DownloadDestination?,
        completionHandler: DownloadCompletionHandler?
    ) -> URLSessionDownloadTask {
        makeDownload(downloadProgressBlock, destination: destination, completion: completionHandler) {
            $0.downloadTask(with: request, for: $1)
        }
    }

    /// Makes a suspended download that continues where another one ended.
    ///
    /// - Parameters:
    ///   - resumeData: From `cancel(byProducingResumeData:)`, or from the error of a download that failed.
    ///   - downloadProgressBlock: Receives how much has arrived, the former part included.
    ///   - destination: As for ``downloadTask(with:progress:destination:completionHandler:)``.
    ///   - completionHandler: Called once, on ``completionQueue``.
    @preconcurrency
    open func downloadTask(
        withResumeData resumeData: Data,
        progress downloadProgressBlock: ProgressHandler?,
        destination: DownloadDestination?,
        completionHandler: DownloadCompletionHandler?
    ) -> URLSessionDownloadTask {
        makeDownload(downloadProgressBlock, destination: destination, completion: completionHandler) {
            $0.downloadTask(withResumeData: resumeData, for: $1)
        }
    }

    // MARK: - Progress

    /// How much of its body a task has sent. Nil if the task is not the manager's, or has completed.
    ///
    /// Cancelling, pausing or resuming the progress does the same to the task.
    open func uploadProgress(for task: URLSessionTask) -> Progress? {
        record(of: task)?.progress(.upload, of: task)
    }

    /// How much of the response's body a task has received. Nil if the task is not the manager's, or has completed.
    ///
    /// Cancelling, pausing or resuming the progress does the same to the task.
    open func downloadProgress(for task: URLSessionTask) -> Progress? {
        record(of: task)?.progress(.download, of: task)
    }

    // MARK: - Coding and copying

    /// Managers can be archived securely.
    open class var supportsSecureCoding: Bool { true }

    /// Reads the settings of the session. All other settings, closures and queues among them, are those of a new
    /// manager.
    ///
    /// Copying calls it too, with a coder without values: a subclass that implements it must call super.
    public required init?(coder: NSCoder) {
        sessionConfiguration =
            ManagerSeed(of: coder)?.configuration?.copied() ?? SessionConfigurationArchive.read(coder) ?? .default
        trust = ManagerTrust(state: state, besides: sessionConfiguration.tls.evaluator)
        super.init()
        watch(state.withLock { $0.securityPolicy })
    }

    /// Writes the settings of the session.
    open func encode(with coder: NSCoder) {
        SessionConfigurationArchive(sessionConfiguration).write(to: coder)
    }

    /// A new manager with a session of the same configuration. Closures, queues and the serializer are not copied.
    open func copy(with zone: NSZone? = nil) -> Any {
        ManagerSeed(configuration: sessionConfiguration).manager(of: type(of: self))
    }

    /// Class, session and operation queue.
    open override var description: String {
        "<\(type(of: self)): \(addressText), session: \(session), operationQueue: \(operationQueue)>"
    }

    /// The address of the manager, which its tasks have for their description until the program sets another.
    var addressText: String {
        state.withLock { state in
            let text = state.address ?? "0x" + String(UInt(bitPattern: ObjectIdentifier(self)), radix: 16)
            state.address = text
            return text
        }
    }

    // MARK: - Delegate of the session
    //
    // Declared in the class and not in extensions, so that subclasses can override them. An override calls super; one
    // with a completion handler may answer by itself instead.

    /// Calls the block for an invalid session, and posts `urlSessionDidInvalidate`.
    open func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        becameInvalid(session, error: error)
    }

    /// Answers with the block for sessions; without a block, the session calls the method for challenges of tasks.
    ///
    /// The session calls a subclass about servers too, once ``securityPolicy`` has accepted them.
    open func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        answer(challenge, in: session, done: completionHandler)
    }

    /// Answers with the handler for challenges, or with ``securityPolicy``.
    open func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        answer(challenge, of: task, in: session, done: completionHandler)
    }

    /// Posts `networkingTaskDidResume`.
    open func urlSession(_ session: URLSession, taskDidResume task: URLSessionTask) {
        announce(.taskDidResume, task: task)
    }

    /// Posts `networkingTaskDidSuspend`.
    open func urlSession(_ session: URLSession, taskDidSuspend task: URLSessionTask) {
        announce(.taskDidSuspend, task: task)
    }

    /// Asks the block for redirects. Without it the session's ``/AFURLTypes/RedirectPolicy`` decides.
    open func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        if let redirect = hook(\.taskWillRedirect) {
            return completionHandler(redirect(session, task, response, request))
        }
        // Answering with the request would overrule a refusal by the session's policy.
        DefaultDelegate.shared.urlSession(
            session,
            task: task,
            willPerformHTTPRedirection: response,
            newRequest: request,
            completionHandler: completionHandler
        )
    }

    /// Asks the block for streams, or copies the request's stream.
    open func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(newBodyStream(of: task, in: session))
    }

    /// Updates the progress of the upload, and calls the block for it.
    open func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        sent(bytesSent, total: totalBytesSent, expected: totalBytesExpectedToSend, of: task, in: session)
    }

    /// Calls the block for the metrics.
    open func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        hook(\.taskDidFinishCollectingMetrics)?(session, task, metrics)
    }

    /// Makes the object of the response, and calls the completion handler of the task.
    open func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        completed(task, in: session, error: error)
    }

    /// Asks the block for responses.
    open func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        completionHandler(hook(\.dataTaskDidReceiveResponse)?(session, dataTask, response) ?? .allow)
    }

    /// Gives the completion handler of the data task to the download.
    open func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didBecome downloadTask: URLSessionDownloadTask
    ) {
        became(downloadTask, task: dataTask, in: session)
    }

    /// Fails the data task for its completion handler: the manager does not use the stream, but a subclass may.
    open func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didBecome streamTask: URLSessionStreamTask
    ) {
        became(streamTask, task: dataTask, in: session)
    }

    /// Keeps the data for the serializer, updates the progress, and calls the block for data.
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
        guard let change = hook(\.dataTaskWillCacheResponse) else { return completionHandler(proposedResponse) }
        completionHandler(change(session, dataTask, proposedResponse))
    }

    /// Moves the file to its destination.
    open func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        downloaded(downloadTask, to: location, in: session)
    }

    /// Updates the progress of the download, and calls the block for it.
    open func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        record(of: downloadTask)?
            .advanced(.download, of: downloadTask, to: totalBytesWritten, of: totalBytesExpectedToWrite)
        hook(\.downloadTaskDidWriteData)?(
            session,
            downloadTask,
            bytesWritten,
            totalBytesWritten,
            totalBytesExpectedToWrite
        )
    }

    /// Updates the progress of the download, and calls the block for it.
    open func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        record(of: downloadTask)?
            .advanced(.download, of: downloadTask, to: fileOffset, of: expectedTotalBytes)
        hook(\.downloadTaskDidResume)?(session, downloadTask, fileOffset, expectedTotalBytes)
    }
}

/// Makes objects of responses with a serializer: ``URLSessionManager``.
///
/// The property is declared here, and not in the class, so that a subclass can declare it with a narrower type:
/// ``HTTPSessionManager/responseSerializer`` is an ``/AFSerialization/HTTPResponseSerializer``.
public protocol ResponseSerializing: AnyObject {}

extension ResponseSerializing where Self: URLSessionManager {
    /// Makes objects of responses: of JSON, unless set. A task uses the serializer that is set when it completes.
    ///
    /// A ``HTTPSessionManager`` wraps a serializer that is no ``/AFSerialization/HTTPResponseSerializer`` in one.
    public var responseSerializer: any URLResponseSerialization {
        get { serializer }
        set { serializer = newValue }
    }
}
