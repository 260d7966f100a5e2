import AFBase
public import Dispatch
public import Foundation

// Unchecked: all state is locked, which the compiler cannot check in an open class. A subclass must make safe what it
// adds.
/// One load as an operation: made, started and called back on the one network thread, as in AFNetworking 2.x.
///
/// ```swift
/// let operation = URLConnectionOperation(request: URLRequest(url: url))
/// operation.completionBlock = { print(operation.responseString ?? "nothing") }
/// queue.addOperation(operation)
/// ```
///
/// The operation is a delegate of its connection. A subclass may override the delegate's methods, and calls `super`.
///
/// **Where code of yours is called.** ``completionBlock`` on ``completionQueue``, which is the main queue unless you
/// set one; progress on the main queue; the blocks that answer challenges, redirects and the cache **on the network
/// thread**: there they must be short and never block, since meanwhile the process loads nothing else. An operation
/// whose ``outputStream`` is yours when it starts is the exception: writing may block, so it has a queue of its own,
/// and those blocks are called there.
///
/// **Pausing** keeps the operation in its queue: not ready, not executing, not finished. `resume()` loads again from
/// the beginning; ``HTTPRequestOperation`` continues where it stopped, if the server can.
///
/// Cancelling is a failure, with `URLError.cancelled`, and is always the end: an operation that had begun finishes at
/// once, also if it was paused; one that waits in a queue finishes when the queue starts it.
///
/// All methods and properties may be used from any thread.
open class URLConnectionOperation: Operation, NSCopying, NSSecureCoding, URLConnectionDataDelegate, @unchecked Sendable
{
    /// Receives how many bytes there are now, how many in all, and how many are expected, -1 if unknown.
    public typealias ProgressBlock = @Sendable (_ count: UInt, _ total: Int64, _ expected: Int64) -> Void
    /// Answers a challenge, through its sender.
    public typealias ChallengeBlock =
        @Sendable (_ connection: URLConnection, _ challenge: URLAuthenticationChallenge) -> Void
    /// Returns what the cache stores.
    public typealias CacheBlock =
        @Sendable (_ connection: URLConnection, _ cachedResponse: CachedURLResponse) -> CachedURLResponse?
    /// Returns the request to send. The response is the redirect, or nil for the operation's own request.
    public typealias RedirectBlock =
        @Sendable (_ connection: URLConnection, _ request: URLRequest, _ redirectResponse: URLResponse?) -> URLRequest?

    let state: Lock<OperationState>

    /// An operation that loads a request.
    public required init(request: URLRequest) {
        state = Lock(OperationState(request))
        super.init()
    }

    deinit {
        let (sink, connection) = state.withLock { ($0.sink, $0.connection) }
        connection?.cancel()
        sink?.close()
    }

    // MARK: - What is loaded

    /// The request. Pausing a ``HTTPRequestOperation`` and setting ``inputStream`` replace it.
    public var request: URLRequest { state.withLock { $0.request } }

    /// The latest response.
    open var response: URLResponse? { state.withLock { $0.response } }

    /// Why the load failed: a `URLError`, unless other code gave the error. Its `loadFailure` has the details.
    open var error: (any Error)? { state.withLock { $0.error } }

    /// The body, when it has arrived in full. Nil with an ``outputStream`` of yours, and after a failure.
    open var responseData: Data? { state.withLock { $0.responseData } }

    /// The body as text, read as ``responseStringEncoding`` says.
    open var responseString: String? {
        let (text, data, response) = state.withLock { ($0.responseString, $0.responseData, $0.response) }
        if let text { return text }
        guard let response, let data else { return nil }
        let made = String(data: data, encoding: CharacterSetName.encoding(response.textEncodingName))
        return state.withLock { state in
            if state.responseString == nil { state.responseString = made }
            return state.responseString
        }
    }

    /// The encoding that the response names. UTF-8 if it names none, or one that is not known.
    open var responseStringEncoding: String.Encoding {
        CharacterSetName.encoding(response?.textEncodingName)
    }

    // MARK: - Settings

    /// The modes of the network thread's loop in which the operation loads. The common ones; the thread runs in the
    /// default mode, and in others nothing is loaded. Pausing and cancelling work in any.
    open var runLoopModes: Set<RunLoop.Mode> {
        get { Set(state.withLock { $0.runLoopModes }) }
        set { state.set(\.runLoopModes, Array(newValue)) }
    }

    /// Whether the shared credential storage may be asked. True.
    open var shouldUseCredentialStorage: Bool {
        get { state.withLock { $0.usesCredentialStorage } }
        set { state.set(\.usesCredentialStorage, newValue) }
    }

    /// The credential for a challenge of the first server, or of a proxy, offered once. The first server is that of
    /// ``request``, or of the request that the redirect block puts in its place. A server that a redirect leads to does
    /// not get it.
    open var credential: URLCredential? {
        get { state.withLock { $0.credential } }
        set { state.set(\.credential, newValue) }
    }

    /// Decides which servers the operation trusts. A default policy of its own, unless set.
    open var securityPolicy: SecurityPolicy {
        get {
            state.withLock { state in
                let policy = state.securityPolicy ?? SecurityPolicy()
                state.securityPolicy = policy
                return policy
            }
        }
        set { state.set(\.securityPolicy, newValue) }
    }

    /// How the operation's connection is secured: which authorities it trusts, and how it identifies itself. Nil, as it is at
    /// first, is the standard configuration. Counts for attempts that begin after it is set. ``securityPolicy`` decides by
    /// these authorities.
    ///
    /// ```swift
    /// var tls = TLSConfiguration()
    /// tls.anchors = try .file("/etc/my-company/root.pem")
    /// operation.tls = tls
    /// ```
    open var tls: TLSConfiguration? {
        get { state.withLock { $0.tls }?.configuration }
        set { state.set(\.tls, newValue.map(HeldTLSConfiguration.init)) }
    }

    /// The body of the request, read while it is sent. Setting it replaces the body of ``request``.
    open var inputStream: InputStream? {
        get { request.httpBodyStream }
        set {
            var request = request
            request.httpBodyStream = newValue
            state.set(\.request, request)
        }
    }

    /// Where the body of the response is written: in memory, unless you set a stream of your own before the operation
    /// starts. Setting one closes the one before. Memory takes 1 GiB, as much as
    /// ``/AFURLSession/URLSessionConfiguration/maximumBodyInMemory`` of a new configuration; a longer body fails with
    /// `URLError.dataLengthExceedsMaximum`.
    ///
    /// The operation opens and closes it. Bytes that it does not take fail the operation, with the stream's error if its
    /// status is `.error`.
    open var outputStream: OutputStream? {
        get {
            state.withLock { state in
                if state.sink == nil { state.sink = ResponseSink() }
                return state.sink?.stream
            }
        }
        set {
            let (former, scheduler) = state.withLock { state -> (ResponseSink?, ConnectionScheduler?) in
                let former = state.sink
                state.sink = newValue.map(ResponseSink.init)
                return (former, state.scheduler)
            }
            guard let former, let stream = former.presentStream, stream !== newValue else { return }
            // The connection may be writing to it now.
            if let scheduler { scheduler.perform { former.presentStream?.close() } } else { stream.close() }
        }
    }

    /// Where ``completionBlock`` is called; nil, as it is at first, is the main queue.
    open var completionQueue: DispatchQueue? {
        get { state.withLock { $0.completionQueue } }
        set { state.set(\.completionQueue, newValue) }
    }

    /// The group in which ``completionBlock`` is called; nil is none.
    open var completionGroup: DispatchGroup? {
        get { state.withLock { $0.completionGroup } }
        set { state.set(\.completionGroup, newValue) }
    }

    /// Values of your own. The operation neither uses nor guards them.
    open var userInfo: [AnyHashable: Any]? {
        get { state.withLock { $0.userInfo } }
        set { state.set(\.userInfo, newValue) }
    }

    /// Called on ``completionQueue`` when the operation has finished, in ``completionGroup``. Nil from then on.
    open override var completionBlock: (@Sendable () -> Void)? {
        get {
            guard let block = state.withLock({ $0.completion }) else { return nil }
            return { [weak self] in self?.enqueue(block) }
        }
        set {
            guard let newValue else { return setCompletion(nil) }
            setCompletion { _ in newValue() }
        }
    }

    /// - Parameter block: Gets the operation.
    func setCompletion(_ block: (@Sendable (URLConnectionOperation) -> Void)?) {
        // Release the old one after the lock.
        _ = state.withLock { state in
            defer { state.completion = block }
            return state.completion
        }
        hearOwnEnd(block != nil)
    }

    /// Puts a completion block round the present one. It is called once, also if the operation ends meanwhile on another
    /// thread: then perhaps round nothing, because that thread has called the present one.
    func wrapCompletion(
        _ wrap: (_ original: (@Sendable (URLConnectionOperation) -> Void)?) ->
            @Sendable (URLConnectionOperation) -> Void
    ) {
        state.withLock { state in state.completion = wrap(state.completion) }
        hearOwnEnd(true)
        if isFinished { complete() }
    }

    /// An object of a subclass may finish in a way of its own, and then only Foundation hears of it.
    private func hearOwnEnd(_ isWanted: Bool) {
        guard !isOfLibrary else { return }
        let hears: @Sendable () -> Void = { [weak self] in self?.complete() }
        super.completionBlock = isWanted ? hears : nil
    }

    // MARK: - Blocks

    /// Sets what receives how much of the request's body was sent. Called on the main queue.
    @preconcurrency
    open func setUploadProgressBlock(_ block: ProgressBlock?) {
        state.set(\.uploadProgress, block)
    }

    /// What receives how much of the request's body was sent.
    open var uploadProgressBlock: ProgressBlock? { state.withLock { $0.uploadProgress } }

    /// What receives how much of the response's body has arrived.
    open var downloadProgressBlock: ProgressBlock? { state.withLock { $0.downloadProgress } }

    /// Sets what receives how much of the response's body has arrived. Called on the main queue.
    @preconcurrency
    open func setDownloadProgressBlock(_ block: ProgressBlock?) {
        state.set(\.downloadProgress, block)
    }

    /// Sets what answers challenges in place of ``securityPolicy`` and ``credential``. It must answer each one.
    @preconcurrency
    open func setWillSendRequestForAuthenticationChallengeBlock(_ block: ChallengeBlock?) {
        state.set(\.challengeBlock, block)
        state.withLock { $0.challengeBlockChanges += 1 }
    }

    /// Sets what decides about requests. Nil for a redirect delivers the redirect.
    @preconcurrency
    open func setRedirectResponseBlock(_ block: RedirectBlock?) {
        state.set(\.redirectBlock, block)
    }

    /// Sets what decides about storing the response.
    @preconcurrency
    open func setCacheResponseBlock(_ block: CacheBlock?) {
        state.set(\.cacheBlock, block)
    }

    /// Lets ``expireBackgroundTask()`` cancel the operation, after it has called `handler`.
    ///
    /// On Linux the system does not call it: a program that has to end, because of a signal for example, calls
    /// ``expireBackgroundTask()``. A second call changes nothing.
    @preconcurrency
    open func setShouldExecuteAsBackgroundTask(expirationHandler handler: (@Sendable () -> Void)?) {
        state.withLock { state in
            guard !state.isBackgroundTask else { return }
            state.isBackgroundTask = true
            state.expirationHandler = handler
        }
    }

    /// The time is up: calls the expiration handler and cancels, if
    /// ``setShouldExecuteAsBackgroundTask(expirationHandler:)`` asked for it and the operation has not finished.
    open func expireBackgroundTask() {
        let (isWanted, handler) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
            guard state.isBackgroundTask, state.machine.phase != .finished else { return (false, nil) }
            defer {
                state.isBackgroundTask = false
                state.expirationHandler = nil
            }
            return (true, state.expirationHandler)
        }
        guard isWanted else { return }
        handler?()
        cancel()
    }

    // MARK: - The life of an operation

    /// True if it was not started, is not paused, and everything it depends on has finished.
    open override var isReady: Bool { state.withLock { $0.machine.phase } == .ready && super.isReady }
    /// True while it loads.
    open override var isExecuting: Bool { state.withLock { $0.machine.phase } == .executing }
    /// True when it has ended, for whatever reason.
    open override var isFinished: Bool { state.withLock { $0.machine.phase } == .finished }
    /// True from the moment in which it is cancelled.
    open override var isCancelled: Bool { state.withLock { $0.machine.isCancelled } || super.isCancelled }
    /// True: ``start()`` returns at once.
    open override var isAsynchronous: Bool { true }
    /// True while it is paused.
    open var isPaused: Bool { state.withLock { $0.machine.phase } == .paused }

    /// Starts to load, if the operation is ready. A queue calls this.
    open override func start() {
        begin()
    }

    /// Stops loading until `resume()`. Does nothing if the operation is paused, finished or cancelled.
    open func pause() {
        halt()
    }

    /// Goes on after a pause. An operation that was not started, neither before nor while it was paused, is ready again,
    /// and begins when its queue, or you, start it.
    open func resume() {
        goOn()
    }

    /// Cancels the operation. If it has begun it fails with `URLError.cancelled` now, else when it is started.
    open override func cancel() {
        giveUp()
    }

    // MARK: - Between attempts

    /// Called when a pause has cancelled the connection. A subclass may prepare to continue in the middle of the body.
    func willContinue() {}

    /// What to do with a response.
    enum Continuation {
        /// Take its body.
        case take
        /// Throw it away and load again from the beginning.
        case loadAgain
    }

    /// Asked about each response.
    func continuation(with response: URLResponse) -> Continuation { .take }

    // MARK: - The connection's delegate

    /// Answers with ``shouldUseCredentialStorage``.
    open func connectionShouldUseCredentialStorage(_ connection: URLConnection) -> Bool { shouldUseCredentialStorage }

    /// Answers with the block for challenges, or with policy and credential.
    open func connection(_ connection: URLConnection, willSendRequestFor challenge: URLAuthenticationChallenge) {
        answer(challenge, of: connection)
    }

    /// Operations of this class and of `HTTPRequestOperation` with equal policies share connections. One that answers
    /// challenges by a block, or shows a certificate of its own, has connections of its own. So has each object of a
    /// subclass, because a method of yours may decide about servers. Override this to let objects of yours share what one
    /// of them has accepted.
    open func connectionTrustIdentity(_ connection: URLConnection) -> Data? { trustIdentity }

    /// Asks the block for redirects. Without it ``/AFURLTypes/RedirectPolicy`` decides.
    open func connection(
        _ connection: URLConnection,
        willSend request: URLRequest,
        redirectResponse response: URLResponse?
    ) -> URLRequest? {
        self.request(toSend: request, after: response, by: connection)
    }

    /// Takes the response of this attempt.
    open func connection(_ connection: URLConnection, didReceive response: URLResponse) {
        receive(response, from: connection)
    }

    /// Keeps the data, or writes them to ``outputStream``.
    open func connection(_ connection: URLConnection, didReceive data: Data) {
        receive(data, from: connection)
    }

    /// Answers with a copy of the request's stream, if the stream can be copied: that of a form can.
    open func connection(_ connection: URLConnection, needNewBodyStream request: URLRequest) -> InputStream? {
        request.copyOfStream
    }

    /// Calls the block for upload progress.
    open func connection(
        _ connection: URLConnection,
        didSendBodyData bytesWritten: Int,
        totalBytesWritten: Int,
        totalBytesExpectedToWrite: Int
    ) {
        guard isCurrent(connection) else { return }
        tell(
            { $0.uploadProgress },
            count: bytesWritten,
            total: Int64(totalBytesWritten),
            expected: Int64(totalBytesExpectedToWrite)
        )
    }

    /// Asks the block for the cache.
    open func connection(
        _ connection: URLConnection,
        willCacheResponse cachedResponse: CachedURLResponse
    ) -> CachedURLResponse? {
        if let block = state.withLock({ $0.cacheBlock }) { return block(connection, cachedResponse) }
        return isCancelled ? nil : cachedResponse
    }

    /// Ends the operation, or loads the rest.
    open func connectionDidFinishLoading(_ connection: URLConnection) {
        receiveEnd(from: connection)
    }

    /// Ends the operation with the error.
    open func connection(_ connection: URLConnection, didFailWithError error: any Error) {
        guard isCurrent(connection) else { return }
        finish(with: state.withLock { $0.trustError } ?? error)
    }

    // MARK: - Describing, coding, copying

    /// Class, address, state, request and response.
    open override var description: String {
        let (phase, isCancelled, request, response) = state.withLock {
            ($0.machine.phase, $0.machine.isCancelled, $0.request, $0.response)
        }
        let address = UInt(bitPattern: ObjectIdentifier(self))
        return "<\(type(of: self)): 0x\(String(address, radix: 16)), state: \(phase.key), "
            + "cancelled: \(isCancelled ? "YES" : "NO") request: \(request), "
            + "response: \(response?.description ?? "none")>"
    }

    /// Operations can be archived securely.
    open class var supportsSecureCoding: Bool { true }

    /// Reads an operation, which is ready whatever it was; nil if the archive holds no request.
    public required init?(coder: NSCoder) {
        guard let archive = OperationArchive(coder), let request = archive.request else { return nil }
        var state = OperationState(request: request, archive: archive)
        state.response =
            coder.decodeObject(of: [HTTPURLResponse.self, URLResponse.self], forKey: OperationArchive.response)
            as? URLResponse
        self.state = Lock(state)
        super.init()
    }

    /// Pauses the operation and archives request, response, error and data. No blocks, no streams.
    open func encode(with coder: NSCoder) {
        pause()
        let state = state.withLock { $0 }
        OperationArchive(state).write(to: coder)
        coder.encode(state.response, forKey: OperationArchive.response)
    }

    /// Another operation for the same request, with the same blocks, completion queue and group, and nothing else.
    open func copy(with zone: NSZone? = nil) -> Any {
        let original = state.withLock { $0 }
        let copy = type(of: self).init(request: original.wholeRequest)
        copy.state.withLock { $0.takeBlocks(of: original) }
        return copy
    }
}
