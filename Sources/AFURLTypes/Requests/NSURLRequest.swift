public import Foundation

/// A ``URLRequest`` as an object, for code that hands requests on by reference.
///
/// `as` converts one into the other, and so do `NSURLRequest(request)` and `URLRequest(object)`;
/// `NSMutableURLRequest(request)` makes one that you can change. Use the value in new code: this class is for
/// ``/AFURLSession/URLProtocol/setProperty(_:forKey:in:)-(_,_,NSMutableURLRequest)`` and its like.
open class NSURLRequest: NSObject, NSCopying, NSMutableCopying, NSSecureCoding {
    /// How stored responses may serve a request.
    public typealias CachePolicy = URLRequest.CachePolicy
    /// What a request is for.
    public typealias NetworkServiceType = URLRequest.NetworkServiceType

    /// Only a mutable request ever changes it.
    package var value: URLRequest

    /// Makes an object from a value.
    public init(_ request: URLRequest) {
        value = request
        super.init()
    }

    /// Makes a GET request.
    public convenience init(url: URL) {
        self.init(URLRequest(url: url))
    }

    /// Makes a GET request with a cache policy and a timeout in seconds.
    public init(url: URL, cachePolicy: CachePolicy, timeoutInterval: TimeInterval) {
        value = URLRequest(url: url, cachePolicy: cachePolicy, timeoutInterval: timeoutInterval)
        super.init()
    }

    // MARK: - URL, method and body

    /// The URL to load.
    open var url: URL? { value.url }

    /// How a cache may be used.
    open var cachePolicy: CachePolicy { value.cachePolicy }

    /// The longest time in seconds without any progress.
    open var timeoutInterval: TimeInterval { value.timeoutInterval }

    /// The URL of the document that this resource is a part of.
    open var mainDocumentURL: URL? { value.mainDocumentURL }

    /// What the request is for.
    open var networkServiceType: NetworkServiceType { value.networkServiceType }

    /// Whether the session may send the request over a cellular network.
    open var allowsCellularAccess: Bool { value.allowsCellularAccess }

    /// Kept, and of no effect here: ``URLRequest/allowsExpensiveNetworkAccess``.
    open var allowsExpensiveNetworkAccess: Bool { value.allowsExpensiveNetworkAccess }

    /// Kept, and of no effect here: ``URLRequest/allowsConstrainedNetworkAccess``.
    open var allowsConstrainedNetworkAccess: Bool { value.allowsConstrainedNetworkAccess }

    /// Kept, and of no effect here: ``URLRequest/attribution-swift.property``.
    open var attribution: Attribution { value.attribution }

    /// Kept, and of no effect here: ``URLRequest/requiresDNSSECValidation``.
    open var requiresDNSSECValidation: Bool { value.requiresDNSSECValidation }

    /// Kept, and of no effect here: ``URLRequest/assumesHTTP3Capable``.
    open var assumesHTTP3Capable: Bool { value.assumesHTTP3Capable }

    /// The method.
    open var httpMethod: String? { value.httpMethod }

    /// The body in memory.
    open var httpBody: Data? { value.httpBody }

    /// The body as a stream, which the session reads while it sends. See ``URLRequest/httpBodyStream``.
    open var httpBodyStream: InputStream? { value.httpBodyStream }

    /// Whether the session sends cookies with the request, and stores those of its response.
    open var httpShouldHandleCookies: Bool { value.httpShouldHandleCookies }

    /// Whether the session may send the request before the requests in front of it have responses.
    open var httpShouldUsePipelining: Bool { value.httpShouldUsePipelining }

    /// All header fields; nil as long as none were set.
    open var allHTTPHeaderFields: [String: String]? { value.allHTTPHeaderFields }

    /// The value of a field. Names are compared without regard to ASCII case.
    open func value(forHTTPHeaderField field: String) -> String? {
        value.value(forHTTPHeaderField: field)
    }

    // MARK: - Copying

    /// An immutable request: this one, unless it is mutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// A copy that you can change.
    open func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableURLRequest(value) }

    // MARK: - Coding

    /// Requests can be archived securely.
    open class var supportsSecureCoding: Bool { true }

    /// Reads an archived request.
    public required init?(coder: NSCoder) {
        guard let value = URLRequest(from: coder) else { return nil }
        self.value = value
        super.init()
    }

    /// Archives the request, with its header fields and its body in memory. A body stream, interceptors and the
    /// properties that URL protocol classes have stored are not part of it.
    open func encode(with coder: NSCoder) {
        value.encode(to: coder)
    }

    // MARK: - Comparing and describing

    /// Whether the session would send the other request in the same way.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSURLRequest else { return false }
        return self === other || value == other.value
    }

    /// The same for equal requests.
    open override var hash: Int { value.hashValue }

    /// The URL without user name and password.
    open override var description: String { value.description }
}
