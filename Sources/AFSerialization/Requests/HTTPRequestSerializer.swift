import AFBase
import Dispatch
public import Foundation

/// Makes requests: with header fields, and with parameters in the query or, as a form, in the body.
///
/// ```swift
/// let serializer = HTTPRequestSerializer()
/// serializer.setValue("application/json", forHTTPHeaderField: "Accept")
/// let request = try serializer.request(
///     withMethod: "GET",
///     urlString: "https://api.example.com/items",
///     parameters: ["page": 2, "tags": ["a", "b"]]
/// )
/// #expect(request.url?.query == "page=2&tags%5B%5D=a&tags%5B%5D=b")
/// ```
///
/// A setting applies to every request made afterwards. A property that was never set leaves requests alone, so that the
/// session's configuration decides; setting it to its default counts as setting it.
///
/// Any thread may use and change a serializer at any time. A subclass must make safe what it adds, and implement
/// `required init()`, which copying calls.
open class HTTPRequestSerializer: NSObject, URLRequestSerialization, @unchecked Sendable {
    /// Makes the query of a request.
    ///
    /// It receives the request as it came, without the serializer's header fields, and the parameters, on the thread
    /// that makes the request. An error it reports is that of the serializer, whatever it returns.
    public typealias QueryStringBlock =
        @Sendable (_ request: URLRequest, _ parameters: Any, _ error: NSErrorPointer) -> String?

    private struct State: Sendable {
        var settings = RequestSettings() {
            didSet { kept = KeptRequests() }
        }
        /// As the settings make them.
        private(set) var kept = KeptRequests()

        /// The request without parameters; nil if they would not go into the URL.
        mutating func request(_ method: String, url: URL, keptAs key: KeptRequests.Key?) -> URLRequest? {
            guard settings.methodsInURI.contains(method) else { return nil }
            let request = settings.request(method, url: url, hasFields: true)
            if let key { kept.keep(request, for: key) }
            return request
        }
    }

    private let state: Lock<State>

    /// A serializer with the header fields `User-Agent` and, if the environment names languages, `Accept-Language`.
    public required override init() {
        state = Lock(State())
        super.init()
    }

    /// A new serializer like `init()`.
    open class func serializer() -> Self { Self() }

    // MARK: - Settings

    var snapshot: RequestSettings { state.withLock { $0.settings } }

    func change(_ body: (inout RequestSettings) -> Void) {
        state.withLock { body(&$0.settings) }
    }

    /// The encoding of bodies that are forms, and of text in multipart forms. UTF-8.
    open var stringEncoding: String.Encoding {
        get { snapshot.stringEncoding }
        set { change { $0.stringEncoding = newValue } }
    }

    /// `URLRequest.allowsCellularAccess` of requests, if set. True.
    open var allowsCellularAccess: Bool {
        get { snapshot.allowsCellularAccess ?? true }
        set { change { $0.allowsCellularAccess = newValue } }
    }

    /// `URLRequest.cachePolicy` of requests, if set. That of the protocol.
    open var cachePolicy: URLRequest.CachePolicy {
        get { snapshot.cachePolicy ?? .useProtocolCachePolicy }
        set { change { $0.cachePolicy = newValue } }
    }

    /// `URLRequest.httpShouldHandleCookies` of requests, if set. True.
    open var httpShouldHandleCookies: Bool {
        get { snapshot.handlesCookies ?? true }
        set { change { $0.handlesCookies = newValue } }
    }

    /// `URLRequest.httpShouldUsePipelining` of requests, if set. False.
    open var httpShouldUsePipelining: Bool {
        get { snapshot.usesPipelining ?? false }
        set { change { $0.usesPipelining = newValue } }
    }

    /// `URLRequest.networkServiceType` of requests, if set. The usual one.
    open var networkServiceType: URLRequest.NetworkServiceType {
        get { snapshot.networkServiceType ?? .default }
        set { change { $0.networkServiceType = newValue } }
    }

    /// `URLRequest.timeoutInterval` of requests in seconds, if set. 60.
    open var timeoutInterval: TimeInterval {
        get { snapshot.timeout ?? 60 }
        set { change { $0.timeout = newValue } }
    }

    /// `URLRequest.bodyCoding` of requests, if set. Nil: the session's configuration decides.
    open var bodyCoding: BodyCoding? {
        get { snapshot.bodyCoding }
        set { change { $0.bodyCoding = newValue } }
    }

    /// The methods, in capitals, whose parameters go into the query; those of others go into the body. GET, HEAD and
    /// DELETE.
    open var httpMethodsEncodingParametersInURI: Set<String> {
        get { snapshot.methodsInURI }
        set { change { $0.methodsInURI = newValue } }
    }

    // MARK: - Header fields

    /// The header fields of requests that do not have them already.
    open var httpRequestHeaders: [String: String] { snapshot.headers }

    /// Sets a header field of requests, or removes it if the value is nil.
    ///
    /// Here names that differ in case are different fields; on a request they are the same one. A value or name that
    /// may not stand in a request, such as one with a line break, fails the tasks of these requests before anything is
    /// sent, with an error that names the field.
    open func setValue(_ value: String?, forHTTPHeaderField field: String) {
        change { $0.headers[field] = value }
    }

    /// The value of a header field, by its name as it was set.
    open func value(forHTTPHeaderField field: String) -> String? {
        snapshot.headers[field]
    }

    /// Sends user name and password with each request, in an `Authorization` field.
    ///
    /// It goes to whichever server a request is for, unless a manager with a base URL makes the request for another
    /// server than that. For passwords of one server, answer its challenge with a credential. Control characters, which
    /// neither part may have (RFC 7617), fail the tasks of these requests before anything is sent.
    open func setAuthorizationHeaderFieldWithUsername(_ username: String, password: String) {
        let pair = Data("\(username):\(password)".utf8)
        setValue("Basic \(pair.base64EncodedString())", forHTTPHeaderField: "Authorization")
    }

    /// Removes the `Authorization` field.
    open func clearAuthorizationHeader() {
        setValue(nil, forHTTPHeaderField: "Authorization")
    }

    // MARK: - Queries

    /// Makes queries in this style, and no longer with a block.
    open func setQueryStringSerializationWith(_ style: HTTPRequestQueryStringSerializationStyle) {
        replaceQueryBlock(nil, style: style)
    }

    /// Makes queries with a block; nil for the style again.
    ///
    /// What it returns goes into the URL, or into the body, as it is: the block must escape it.
    @preconcurrency
    open func setQueryStringSerializationWith(_ block: QueryStringBlock?) {
        replaceQueryBlock(block, style: nil)
    }

    private func replaceQueryBlock(_ block: QueryStringBlock?, style: HTTPRequestQueryStringSerializationStyle?) {
        exchange { settings in
            settings.queryBlock = block
            if let style { settings.queryStyle = style }
        }
    }

    /// Changes settings that may hold the program's objects, and releases the former ones after the lock.
    private func exchange(_ body: (inout RequestSettings) -> Void) {
        let former = state.withLock { state in
            defer { body(&state.settings) }
            return state.settings
        }
        withExtendedLifetime(former) {}
    }

    // MARK: - Requests

    /// Makes a request.
    ///
    /// - Parameters:
    ///   - method: The method; ``httpMethodsEncodingParametersInURI`` says where the parameters go.
    ///   - urlString: The URL, which may be relative.
    ///   - parameters: As ``HTTPRequestSerializer/queryString(from:)`` takes them; subclasses may take others. Nil for none.
    open func request(withMethod method: String, urlString: String, parameters: Any?) throws -> URLRequest {
        guard let url = URL(string: urlString) else { throw RequestError.unusableURL(urlString) }
        let request = snapshot.request(method, url: url, hasFields: false)
        return try self.request(bySerializing: request, withParameters: parameters)
    }

    /// A request without parameters that was made lately, and would be made the same now.
    func kept(_ key: KeptRequests.Key) -> URLRequest? { isOfLibrary ? state.withLock { $0.kept[key] } : nil }

    /// Makes a request, as ``request(withMethod:urlString:parameters:)`` does for the URL's text.
    ///
    /// - Parameter key: Under which it is kept if it depends on the settings alone; nil to keep it not.
    func request(_ method: String, url: URL, parameters: Any?, keptAs key: KeptRequests.Key?) throws -> URLRequest {
        guard isOfLibrary else {
            return try request(withMethod: method, urlString: url.absoluteString, parameters: parameters)
        }
        let plain = parameters == nil ? state.withLock { $0.request(method, url: url, keptAs: key) } : nil
        if let plain { return plain }
        let request = snapshot.request(method, url: url, hasFields: false)
        return try self.request(bySerializing: request, withParameters: parameters)
    }

    /// Whether the class is of this library. None of those overrides the method above, and all of them make the same
    /// request if the parameters would go into the URL and there are none.
    var isOfLibrary: Bool { type(of: self) == HTTPRequestSerializer.self }

    /// Makes a request whose body is a form of several parts, such as files, which are read while they are sent.
    ///
    /// ```swift
    /// let request = try serializer.multipartFormRequest(
    ///     withMethod: "POST",
    ///     urlString: "https://api.example.com/photos",
    ///     parameters: ["title": "Sunset"]
    /// ) { form in
    ///     try form.appendPart(withFileURL: photo, name: "photo")
    /// }
    /// ```
    ///
    /// The body is a ``MultipartBodyStream``, whose length is known and announced. Without parts the request is a form
    /// with an empty body.
    ///
    /// - Parameters:
    ///   - method: Neither `GET` nor `HEAD`.
    ///   - urlString: The URL, which may be relative.
    ///   - parameters: Fields of the form, flattened like those of a query. `Data` is sent as it is, null as nothing,
    ///     and all else as its description in ``stringEncoding``; what has characters that are not in it is left out.
    ///   - block: Appends further parts, at once. What it throws is thrown.
    open func multipartFormRequest(
        withMethod method: String,
        urlString: String,
        parameters: [String: Any]?,
        constructingBodyWith block: ((any MultipartFormData) throws -> Void)?
    ) throws -> URLRequest {
        guard !["GET", "HEAD"].contains(ASCII.uppered(method)) else { throw RequestError.noBody(for: method) }
        let request = try self.request(withMethod: method, urlString: urlString, parameters: nil)
        let form = StreamingMultipartFormData()
        if let parameters { try form.append(parameters, in: stringEncoding) }
        try block?(form)
        return try form.finish(request)
    }

    /// Writes the body stream of a request to a file, to be uploaded from there.
    ///
    /// Returns at once, before the file is complete: wait for the handler. An existing file is replaced. Only this user
    /// can read the new one, and it is removed if writing fails. If the stream of the request can be copied, as a
    /// ``MultipartBodyStream`` can, the copy is read.
    ///
    /// - Parameters:
    ///   - request: A request with a body stream.
    ///   - fileURL: The file.
    ///   - handler: Called on the main queue, with the error, if there is one.
    /// - Returns: The request without its stream, with its header fields, for an upload task from the file.
    @preconcurrency
    open func request(
        withMultipartForm request: URLRequest,
        writingStreamContentsToFile fileURL: URL,
        completionHandler handler: (@Sendable ((any Error)?) -> Void)?
    ) -> URLRequest {
        MultipartFile(request: request, at: fileURL).write { error in
            guard let handler else { return }
            OperationQueue.main.addOperation { handler(error) }
        }
        return request.withoutBodyStream
    }

    /// Puts header fields and parameters into a request. ``request(withMethod:urlString:parameters:)`` calls it:
    /// override it to change them.
    open func request(
        bySerializing request: URLRequest,
        withParameters parameters: Any?,
        error: NSErrorPointer
    ) -> URLRequest? {
        reporting(to: error) { try snapshot.serialize(request, parameters: parameters) }
    }

    // MARK: - Copying and coding

    /// Another serializer with the same settings, the query block included.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = Self()
        let settings = snapshot
        copy.exchange { $0 = settings }
        return copy
    }

    /// Serializers can be archived securely.
    open class var supportsSecureCoding: Bool { true }

    /// Reads a serializer; nil if the archive is damaged.
    public required init?(coder: NSCoder) {
        guard let settings = RequestSettings(coder) else { return nil }
        state = Lock(State())
        super.init()
        exchange { $0 = settings }
    }

    /// Writes all settings but the query block.
    open func encode(with coder: NSCoder) {
        snapshot.encode(with: coder)
    }
}

extension HTTPRequestSerializer {
    /// Makes queries with a function that throws.
    ///
    /// - Parameter makeQuery: Receives the request, without the serializer's header fields, and the parameters.
    @preconcurrency
    public func setQueryStringSerialization(
        _ makeQuery: @escaping @Sendable (_ request: URLRequest, _ parameters: Any) throws -> String
    ) {
        setQueryStringSerializationWith { request, parameters, error in
            do {
                return try makeQuery(request, parameters)
            } catch let failure {
                error?.pointee = CarriedError.make(failure)
                return nil
            }
        }
    }

    /// Writes the body stream of a request to a file, to be uploaded from there.
    ///
    /// As ``request(withMultipartForm:writingStreamContentsToFile:completionHandler:)``, but returns when the file is
    /// complete, and needs no main queue. Cancelling the Swift task cancels the writing and removes the file.
    public func request(
        withMultipartForm request: URLRequest,
        writingStreamContentsToFile fileURL: URL
    ) async throws -> URLRequest {
        try await MultipartFile(request: request, at: fileURL).write()
        return request.withoutBodyStream
    }
}

// MARK: - Queries

extension HTTPRequestSerializer {
    /// The query, or the body of a form, that parameters make.
    ///
    /// ```swift
    /// let query = HTTPRequestSerializer.queryString(from: ["name": "Ada", "langs": ["en", "fr"], "at": ["x": 1]])
    /// #expect(query == "at%5Bx%5D=1&langs%5B%5D=en&langs%5B%5D=fr&name=Ada")
    /// ```
    ///
    /// Dictionaries are sorted by their keys and become `key[nested]`, arrays `key[]` for each element, sets the same key
    /// for each element, sorted by their descriptions. `NSNull` and nil become the key alone, without `=`. All else becomes
    /// its description: true is `1`, false is `0`, and numbers are as short as can be. Keys need not be text. Parameters
    /// that are no dictionary have fields without a name. Values nested more than 512 deep are left out; after a thousand
    /// of those, so is all that follows. Request serializers refuse such parameters.
    public static func queryString(from parameters: Any) -> String {
        ParameterPairs(parameters, mostCuts: 1000).cutQuery
    }

    /// Escapes text for the query of a URL or for a form.
    ///
    /// Letters, digits and `-._~/?` stay as they are. All else becomes the bytes of UTF-8 as `%XX`, a space as `%20`, and
    /// `%` as `%25`: text is never taken as already escaped.
    public static func percentEscapedString(from string: String) -> String {
        PercentEscaping.escaped(string)
    }
}

/// How parameters become a query.
@nonexhaustive
public enum HTTPRequestQueryStringSerializationStyle: UInt, Sendable {
    /// As ``HTTPRequestSerializer/queryString(from:)`` does it.
    case defaultStyle = 0
}

// MARK: - Constants

extension HTTPRequestSerializer {
    /// The domain of errors of request serializers. The codes are those of `NSURLErrorDomain`.
    public static let errorDomain = RequestError.domain

    /// The key of the request that could not be made, in the user info of an error of ``errorDomain``.
    public static let failingRequestErrorKey = "com.alamofire.serialization.request.error.response"

    /// How many bytes ``MultipartFormData/throttleBandwidth(withPacketSize:delay:)`` should send at a time over a slow
    /// mobile network.
    public static let suggested3GPacketSize: UInt = 16 * 1024

    /// How many seconds ``MultipartFormData/throttleBandwidth(withPacketSize:delay:)`` should wait between packets on a
    /// slow mobile network.
    public static let suggested3GDelay: TimeInterval = 0.2
}
