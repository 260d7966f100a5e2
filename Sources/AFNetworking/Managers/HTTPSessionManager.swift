import AFBase
public import Foundation

// Unchecked as its superclass; adds constants and locked values.
/// A session manager for one server: resolves URLs against a base, puts parameters into requests, and has a method for
/// each HTTP verb.
///
/// ```swift
/// let manager = HTTPSessionManager(baseURL: URL(string: "https://api.example.com/v1/"))
/// let user = try await manager.get("users/1", decode: User.self)
/// ```
open class HTTPSessionManager: URLSessionManager, ServerManager, @unchecked Sendable {
    private struct Settings: Sendable {
        var requestSerializer = HTTPRequestSerializer()
        var responseSerializer: HTTPResponseSerializer = JSONResponseSerializer()
    }

    /// What relative URLs are resolved against. Its path ends in a slash; the manager adds one if it is missing.
    ///
    /// The text given to a verb reaches another server only as a whole URL with its scheme; `//host/path` is an error.
    /// Another scheme, host or port is another server. A request for one carries none of the secret fields of the
    /// request serializer and of the session's additional headers, which are those that `RedirectPolicy` keeps from
    /// other origins. The headers given to a call are sent.
    public var baseURL: URL? { base?.url }
    let base: BaseURL?
    private let settings = Lock(Settings())

    /// A new manager, without a base URL and with a default session. Calls `init(coder:)` of a subclass.
    open class func manager() -> Self { ManagerSeed().manager(of: self) }

    /// A manager with a default session.
    public convenience init(baseURL url: URL?) {
        self.init(baseURL: url, sessionConfiguration: nil)
    }

    /// A manager without a base URL, with a session of this configuration; nil is the default configuration.
    public override convenience init(sessionConfiguration configuration: URLSessionConfiguration?) {
        self.init(baseURL: nil, sessionConfiguration: configuration)
    }

    /// A manager.
    ///
    /// - Parameters:
    ///   - url: What relative URLs are resolved against. With `http://example.com/v1/`, `users` becomes
    ///     `http://example.com/v1/users` and `/users` becomes `http://example.com/users`.
    ///   - configuration: The session's configuration; nil is the default one.
    public init(baseURL url: URL?, sessionConfiguration configuration: URLSessionConfiguration?) {
        base = url.map(BaseURL.init)
        super.init(sessionConfiguration: configuration)
    }

    /// Puts parameters into requests: a query or a form, unless set.
    open var requestSerializer: HTTPRequestSerializer {
        get { settings.withLock { $0.requestSerializer } }
        set { settings.set(\.requestSerializer, newValue) }
    }

    /// Makes objects of responses: of JSON, unless set. A task uses the serializer that is set when it completes.
    ///
    /// ```swift
    /// manager.responseSerializer.acceptableContentTypes = ["application/json", "text/html"]
    /// ```
    open var responseSerializer: HTTPResponseSerializer {
        get { settings.withLock { $0.responseSerializer } }
        set { settings.set(\.responseSerializer, newValue) }
    }

    override var mayHaveOverrides: Bool { type(of: self) != HTTPSessionManager.self }

    override var serializer: any URLResponseSerialization {
        get { responseSerializer }
        set { responseSerializer = newValue as? HTTPResponseSerializer ?? AdaptedResponseSerializer(newValue) }
    }

    /// Sets ``URLSessionManager/securityPolicy``, unless it pins and ``baseURL`` is not https.
    ///
    /// The property takes any policy. One that pins makes requests without TLS fail before a connection is made,
    /// whatever the base URL.
    public func setSecurityPolicy(_ policy: SecurityPolicy) throws(InvalidSecurityPolicy) {
        if policy.sslPinningMode != .none, baseURL?.scheme != "https" { throw InvalidSecurityPolicy(baseURL: baseURL) }
        securityPolicy = policy
    }

    // MARK: - Coding and copying

    /// Reads a manager: its base URL, serializers and policy, and the settings of its session.
    ///
    /// Copying calls it too, with a coder without values: a subclass that implements it must call super.
    public required init?(coder: NSCoder) {
        base = coder.managerBase
        super.init(coder: coder)
        guard (try? readSettings(from: coder)) != nil else { return nil }
    }

    /// Writes what `init(coder:)` reads. A response serializer that is no ``/AFSerialization/HTTPResponseSerializer`` is left out.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        writeSettings(to: coder)
    }

    /// A manager of the same class, with the same base URL and configuration, and copies of serializers and policy.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = ManagerSeed(baseURL: baseURL, configuration: sessionConfiguration).manager(of: type(of: self))
        copy.copySerializers(of: self)
        // The default policy is copied too: it may have been changed in place.
        if state.withLock({ $0.hasOwnPolicy }) || sessionConfiguration.tls.evaluator == nil {
            copy.securityPolicy = securityPolicy.copy()
        }
        return copy
    }

    /// That of the superclass, and the base URL.
    open override var description: String {
        let base = baseURL?.textWithoutCredentials ?? "none"
        return super.description.replacing(">", with: ", baseURL: \(base)>", maxReplacements: 1)
    }

    // MARK: - Verbs
    //
    // Each resumes its task and returns it. A request that cannot be made is a failure without a task: nothing is
    // sent, and nil is returned.

    /// Receives the task and the object that the response serializer made of its response.
    public typealias Success = @Sendable (URLSessionDataTask, Any?) -> Void
    /// Receives the task, if there is one, and the error.
    public typealias Failure = @Sendable (URLSessionDataTask?, any Error) -> Void

    /// Makes a request and starts it.
    ///
    /// - Parameters:
    ///   - urlString: Resolved against ``baseURL``.
    ///   - parameters: Become the query.
    ///   - headers: Replace fields that the request serializer has set.
    ///   - downloadProgress: Receives how much of the response has arrived.
    ///   - success: Called on ``URLSessionManager/completionQueue``.
    ///   - failure: Called on ``URLSessionManager/completionQueue``.
    @discardableResult
    @preconcurrency
    open func get(
        _ urlString: String,
        parameters: Any?,
        headers: [String: String]? = nil,
        progress downloadProgress: ProgressHandler? = nil,
        success: Success?,
        failure: Failure?
    ) -> URLSessionDataTask? {
        let call = Call(
            "GET",
            urlString: urlString,
            parameters: parameters,
            headers: headers,
            download: downloadProgress
        )
        return start(call, success: success, failure: failure)
    }

    /// Makes a HEAD request and starts it. There is no body.
    ///
    /// - Parameters:
    ///   - urlString: Resolved against ``baseURL``.
    ///   - parameters: Become the query.
    ///   - headers: Replace fields that the request serializer has set.
    ///   - success: Called on ``URLSessionManager/completionQueue``.
    ///   - failure: Called on ``URLSessionManager/completionQueue``.
    @discardableResult
    @preconcurrency
    open func head(
        _ urlString: String,
        parameters: Any?,
        headers: [String: String]? = nil,
        success: (@Sendable (URLSessionDataTask) -> Void)?,
        failure: Failure?
    ) -> URLSessionDataTask? {
        let withoutBody: Success = { task, _ in success?(task) }
        return start(
            Call("HEAD", urlString: urlString, parameters: parameters, headers: headers),
            success: withoutBody,
            failure: failure
        )
    }

    /// Posts parameters.
    ///
    /// - Parameters:
    ///   - urlString: Resolved against ``baseURL``.
    ///   - parameters: Become the body.
    ///   - headers: Replace fields that the request serializer has set.
    ///   - uploadProgress: Receives how much of the body was sent.
    ///   - success: Called on ``URLSessionManager/completionQueue``.
    ///   - failure: Called on ``URLSessionManager/completionQueue``.
    @discardableResult
    @preconcurrency
    open func post(
        _ urlString: String,
        parameters: Any?,
        headers: [String: String]? = nil,
        progress uploadProgress: ProgressHandler? = nil,
        success: Success?,
        failure: Failure?
    ) -> URLSessionDataTask? {
        start(
            Call("POST", urlString: urlString, parameters: parameters, headers: headers, upload: uploadProgress),
            success: success,
            failure: failure
        )
    }

    /// Posts a multipart form, which is read while it is sent.
    ///
    /// - Parameters:
    ///   - urlString: Resolved against ``baseURL``.
    ///   - parameters: Become parts of the form.
    ///   - headers: Replace fields that the request serializer has set.
    ///   - block: Appends parts to the form, at once.
    ///   - uploadProgress: Receives how much of the form was sent.
    ///   - success: Called on ``URLSessionManager/completionQueue``.
    ///   - failure: Called on ``URLSessionManager/completionQueue``.
    @discardableResult
    @preconcurrency
    open func post(
        _ urlString: String,
        parameters: Any?,
        headers: [String: String]? = nil,
        constructingBodyWith block: ((any MultipartFormData) -> Void)?,
        progress uploadProgress: ProgressHandler? = nil,
        success: Success?,
        failure: Failure?
    ) -> URLSessionDataTask? {
        let call = Call(
            "POST",
            urlString: urlString,
            parameters: parameters,
            headers: headers,
            form: block ?? { _ in },
            upload: uploadProgress
        )
        return start(call, success: success, failure: failure)
    }

    /// Puts parameters.
    ///
    /// - Parameters:
    ///   - urlString: Resolved against ``baseURL``.
    ///   - parameters: Become the body.
    ///   - headers: Replace fields that the request serializer has set.
    ///   - success: Called on ``URLSessionManager/completionQueue``.
    ///   - failure: Called on ``URLSessionManager/completionQueue``.
    @discardableResult
    @preconcurrency
    open func put(
        _ urlString: String,
        parameters: Any?,
        headers: [String: String]? = nil,
        success: Success?,
        failure: Failure?
    ) -> URLSessionDataTask? {
        start(
            Call("PUT", urlString: urlString, parameters: parameters, headers: headers),
            success: success,
            failure: failure
        )
    }

    /// Patches with parameters.
    ///
    /// - Parameters:
    ///   - urlString: Resolved against ``baseURL``.
    ///   - parameters: Become the body.
    ///   - headers: Replace fields that the request serializer has set.
    ///   - success: Called on ``URLSessionManager/completionQueue``.
    ///   - failure: Called on ``URLSessionManager/completionQueue``.
    @discardableResult
    @preconcurrency
    open func patch(
        _ urlString: String,
        parameters: Any?,
        headers: [String: String]? = nil,
        success: Success?,
        failure: Failure?
    ) -> URLSessionDataTask? {
        start(
            Call("PATCH", urlString: urlString, parameters: parameters, headers: headers),
            success: success,
            failure: failure
        )
    }

    /// Deletes.
    ///
    /// - Parameters:
    ///   - urlString: Resolved against ``baseURL``.
    ///   - parameters: Become the query.
    ///   - headers: Replace fields that the request serializer has set.
    ///   - success: Called on ``URLSessionManager/completionQueue``.
    ///   - failure: Called on ``URLSessionManager/completionQueue``.
    @discardableResult
    @preconcurrency
    open func delete(
        _ urlString: String,
        parameters: Any?,
        headers: [String: String]? = nil,
        success: Success?,
        failure: Failure?
    ) -> URLSessionDataTask? {
        start(
            Call("DELETE", urlString: urlString, parameters: parameters, headers: headers),
            success: success,
            failure: failure
        )
    }

    /// Makes a task for any method, suspended. The verbs with closures call it, but for the `POST` of a form.
    ///
    /// - Parameters:
    ///   - method: The method, as it is sent.
    ///   - urlString: Resolved against ``baseURL``.
    ///   - parameters: Become the query or the body, as the request serializer decides.
    ///   - headers: Replace fields that the request serializer has set.
    ///   - uploadProgress: Receives how much of the body was sent.
    ///   - downloadProgress: Receives how much of the response has arrived.
    ///   - success: Called on ``URLSessionManager/completionQueue``.
    ///   - failure: Called on ``URLSessionManager/completionQueue``.
    @preconcurrency
    open func dataTask(
        withHTTPMethod method: String,
        urlString: String,
        parameters: Any?,
        headers: [String: String]?,
        uploadProgress: ProgressHandler?,
        downloadProgress: ProgressHandler?,
        success: Success?,
        failure: Failure?
    ) -> URLSessionDataTask? {
        let call = Call(
            method,
            urlString: urlString,
            parameters: parameters,
            headers: headers,
            upload: uploadProgress,
            download: downloadProgress
        )
        return make(call, success: success, failure: failure)
    }
}
