import AFBase
import Dispatch
public import Foundation

// Unchecked: all state is locked, which the compiler cannot check in an open class. A subclass must make safe what it
// adds.
/// Makes operations for one server, and runs them in a queue: resolves URLs against a base, puts parameters into
/// requests, and has a method for each HTTP verb.
///
/// ```swift
/// let manager = HTTPRequestOperationManager(baseURL: URL(string: "https://api.example.com/v1/"))
/// manager.get("users/1", parameters: nil) { operation, object in
///     print(object ?? "nothing")
/// } failure: { operation, error in
///     print(error)
/// }
/// ```
///
/// New programs are better served by ``HTTPSessionManager``.
open class HTTPRequestOperationManager: NSObject, NSCopying, NSSecureCoding, ServerManager, @unchecked Sendable {
    /// Receives the operation and the object that the response serializer made of the response.
    public typealias Success = HTTPRequestOperation.Success
    /// Receives the operation, if there is one, and the error.
    public typealias Failure = @Sendable (HTTPRequestOperation?, any Error) -> Void

    private struct State: Sendable {
        var requestSerializer = HTTPRequestSerializer()
        var responseSerializer: HTTPResponseSerializer = JSONResponseSerializer()
        var operationQueue = OperationQueue()
        var usesCredentialStorage = true
        var credential: URLCredential?
        var securityPolicy = SecurityPolicy()
        var tls: HeldTLSConfiguration?
        var reachabilityManager = NetworkReachabilityManager.shared
        var completionQueue: DispatchQueue?
        var completionGroup: DispatchGroup?
    }

    /// What relative URLs are resolved against. Its path ends in a slash; the manager adds one if it is missing.
    public var baseURL: URL? { base?.url }
    private let base: BaseURL?
    private let state = Lock(State())

    /// A new manager without a base URL. Calls `init(coder:)` of a subclass.
    open class func manager() -> Self { ManagerSeed().manager(of: self) }

    /// A manager without a base URL.
    public override convenience init() {
        self.init(baseURL: nil)
    }

    /// A manager. With `http://example.com/v1/`, `users` becomes `http://example.com/v1/users` and `/users` becomes
    /// `http://example.com/users`.
    public init(baseURL url: URL?) {
        base = url.map(BaseURL.init)
        super.init()
    }

    // MARK: - Settings

    /// Puts parameters into requests: a query or a form, unless set.
    open var requestSerializer: HTTPRequestSerializer {
        get { state.withLock { $0.requestSerializer } }
        set { state.set(\.requestSerializer, newValue) }
    }

    /// Makes objects of responses: of JSON, unless set. An operation gets the serializer that is set when it is made.
    open var responseSerializer: HTTPResponseSerializer {
        get { state.withLock { $0.responseSerializer } }
        set { state.set(\.responseSerializer, newValue) }
    }

    /// Where operations run: a queue of the manager's own, unless set.
    open var operationQueue: OperationQueue {
        get { state.withLock { $0.operationQueue } }
        set { state.set(\.operationQueue, newValue) }
    }

    /// Whether operations may ask the shared credential storage. True.
    open var shouldUseCredentialStorage: Bool {
        get { state.withLock { $0.usesCredentialStorage } }
        set { state.set(\.usesCredentialStorage, newValue) }
    }

    /// The ``URLConnectionOperation/credential`` of each operation. An operation that a verb makes for another server
    /// than that of ``baseURL`` has none.
    open var credential: URLCredential? {
        get { state.withLock { $0.credential } }
        set { state.set(\.credential, newValue) }
    }

    /// Decides which servers operations trust. A default policy, unless set.
    open var securityPolicy: SecurityPolicy {
        get { state.withLock { $0.securityPolicy } }
        set { state.set(\.securityPolicy, newValue) }
    }

    /// The ``URLConnectionOperation/tls`` of each operation: the authorities of your own, if there are some. Nil, as it is at
    /// first, is the standard configuration.
    open var tls: TLSConfiguration? {
        get { state.withLock { $0.tls }?.configuration }
        set { state.set(\.tls, newValue.map(HeldTLSConfiguration.init)) }
    }

    /// Watches the network: the shared manager, which is not started, unless set. The manager itself never uses it.
    open var reachabilityManager: NetworkReachabilityManager {
        get { state.withLock { $0.reachabilityManager } }
        set { state.set(\.reachabilityManager, newValue) }
    }

    /// Where success and failure blocks are called; nil, as it is at first, is the main queue.
    open var completionQueue: DispatchQueue? {
        get { state.withLock { $0.completionQueue } }
        set { state.set(\.completionQueue, newValue) }
    }

    /// The group in which those blocks are called; nil is a private one.
    open var completionGroup: DispatchGroup? {
        get { state.withLock { $0.completionGroup } }
        set { state.set(\.completionGroup, newValue) }
    }

    // MARK: - Operations

    /// Makes an operation without enqueuing it. The manager makes every operation with this method: override it to
    /// change them.
    @preconcurrency
    open func httpRequestOperation(
        with request: URLRequest,
        success: Success?,
        failure: HTTPRequestOperation.Failure?
    ) -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: request)
        operation.responseSerializer = state.withLock { settings in
            operation.state.withLock { state in
                state.usesCredentialStorage = settings.usesCredentialStorage
                state.credential = settings.credential
                state.securityPolicy = settings.securityPolicy
                state.tls = settings.tls
                state.completionQueue = settings.completionQueue
                state.completionGroup = settings.completionGroup
            }
            return settings.responseSerializer
        }
        operation.setCompletionBlockWithSuccess(success, failure: failure)
        return operation
    }

    private func enqueue(
        _ method: String,
        urlString: String,
        parameters: Any?,
        form: ((any MultipartFormData) -> Void)? = nil,
        success: Success?,
        failure: Failure?
    ) -> HTTPRequestOperation? {
        let request: URLRequest
        let leavesBase: Bool
        do {
            (request, leavesBase) = try requestSerializer.request(
                method,
                text: urlString,
                relativeTo: base,
                parameters: parameters,
                form: form,
                keeping: RedirectPolicy()
            )
        } catch {
            let error = error
            MainQueue.complete(on: completionQueue) { failure?(nil, error) }
            return nil
        }
        let operation = httpRequestOperation(with: request, success: success) { operation, error in
            failure?(operation, error)
        }
        if leavesBase { operation.credential = nil }
        operationQueue.addOperation(operation)
        return operation
    }

    // MARK: - Verbs
    //
    // Each enqueues its operation and returns it. A request that cannot be made is a failure without an operation:
    // nothing is sent, and nil is returned.

    /// Gets. Parameters become the query.
    ///
    /// The text is resolved against ``baseURL``. It reaches another server only as a whole URL, and then neither
    /// ``credential`` nor the secret fields of the serializer are sent.
    @discardableResult
    @preconcurrency
    open func get(
        _ urlString: String,
        parameters: Any?,
        success: Success?,
        failure: Failure?
    ) -> HTTPRequestOperation? {
        enqueue("GET", urlString: urlString, parameters: parameters, success: success, failure: failure)
    }

    /// Sends a HEAD request. There is no body. Parameters become the query.
    @discardableResult
    @preconcurrency
    open func head(
        _ urlString: String,
        parameters: Any?,
        success: (@Sendable (HTTPRequestOperation) -> Void)?,
        failure: Failure?
    ) -> HTTPRequestOperation? {
        enqueue(
            "HEAD",
            urlString: urlString,
            parameters: parameters,
            success: { operation, _ in success?(operation) },
            failure: failure
        )
    }

    /// Posts parameters.
    @discardableResult
    @preconcurrency
    open func post(
        _ urlString: String,
        parameters: Any?,
        success: Success?,
        failure: Failure?
    ) -> HTTPRequestOperation? {
        enqueue("POST", urlString: urlString, parameters: parameters, success: success, failure: failure)
    }

    /// Posts a multipart form, which is read while it is sent.
    ///
    /// - Parameters:
    ///   - urlString: Resolved against ``baseURL``.
    ///   - parameters: Become parts of the form.
    ///   - block: Appends parts to the form, at once.
    ///   - success: Called on ``completionQueue``.
    ///   - failure: Called on ``completionQueue``.
    @discardableResult
    @preconcurrency
    open func post(
        _ urlString: String,
        parameters: Any?,
        constructingBodyWith block: ((any MultipartFormData) -> Void)?,
        success: Success?,
        failure: Failure?
    ) -> HTTPRequestOperation? {
        enqueue(
            "POST",
            urlString: urlString,
            parameters: parameters,
            form: block ?? { _ in },
            success: success,
            failure: failure
        )
    }

    /// Puts parameters.
    @discardableResult
    @preconcurrency
    open func put(
        _ urlString: String,
        parameters: Any?,
        success: Success?,
        failure: Failure?
    ) -> HTTPRequestOperation? {
        enqueue("PUT", urlString: urlString, parameters: parameters, success: success, failure: failure)
    }

    /// Patches with parameters.
    @discardableResult
    @preconcurrency
    open func patch(
        _ urlString: String,
        parameters: Any?,
        success: Success?,
        failure: Failure?
    ) -> HTTPRequestOperation? {
        enqueue("PATCH", urlString: urlString, parameters: parameters, success: success, failure: failure)
    }

    /// Deletes. Parameters become the query.
    @discardableResult
    @preconcurrency
    open func delete(
        _ urlString: String,
        parameters: Any?,
        success: Success?,
        failure: Failure?
    ) -> HTTPRequestOperation? {
        enqueue("DELETE", urlString: urlString, parameters: parameters, success: success, failure: failure)
    }

    // MARK: - Describing, coding, copying

    /// Class, base URL and queue.
    open override var description: String {
        let address = UInt(bitPattern: ObjectIdentifier(self))
        return "<\(type(of: self)): 0x\(String(address, radix: 16)), "
            + "baseURL: \(baseURL?.textWithoutCredentials ?? "none"), operationQueue: \(operationQueue)>"
    }

    /// Managers can be archived securely.
    open class var supportsSecureCoding: Bool { true }

    /// Reads a manager: its base URL, serializers and policy.
    ///
    /// Copying calls it too, with a coder without values: a subclass that implements it must call super.
    public required init?(coder: NSCoder) {
        base = coder.managerBase
        super.init()
        guard (try? readSettings(from: coder)) != nil else { return nil }
    }

    /// Archives base URL, serializers and policy. A response serializer that is no ``/AFSerialization/HTTPResponseSerializer`` is left out.
    open func encode(with coder: NSCoder) {
        writeSettings(to: coder)
    }

    /// A manager of the same class, with the same base URL and ``tls``, copies of serializers and policy, and a queue of its
    /// own.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = ManagerSeed(baseURL: baseURL).manager(of: type(of: self))
        copy.copySerializers(of: self)
        copy.securityPolicy = securityPolicy.copy()
        copy.tls = tls
        return copy
    }
}
