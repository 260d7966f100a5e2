public import Foundation

/// A ``URLRequest`` as an object, for code that hands requests on by reference.
///
/// `as` leads from one to the other, and so do `NSURLRequest(request)` and `URLRequest(object)`;
/// `NSMutableURLRequest(request)` makes one that can be changed. The value is the form to use in new code: this one is
/// what ``URLProtocol/setProperty(_:forKey:in:)-(_,_,NSMutableURLRequest)`` and its like take.
open class NSURLRequest: NSObject, NSCopying, NSMutableCopying, NSSecureCoding {
    /// How stored responses may serve a request.
    public typealias CachePolicy = URLRequest.CachePolicy
    /// What a request is for.
    public typealias NetworkServiceType = URLRequest.NetworkServiceType

    /// Only a mutable request ever changes its own.
    var value: URLRequest

    /// Makes the object of a value.
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

    // MARK: - What to load

    /// The URL to load.
    open var url: URL? { value.url }

    /// How a cache may be used.
    open var cachePolicy: CachePolicy { value.cachePolicy }

    /// The longest time in seconds without any progress.
    open var timeoutInterval: TimeInterval { value.timeoutInterval }

    /// The document of which what is loaded is a part.
    open var mainDocumentURL: URL? { value.mainDocumentURL }

    /// What the request is for.
    open var networkServiceType: NetworkServiceType { value.networkServiceType }

    /// Whether the request may be sent by way of a cellular network.
    open var allowsCellularAccess: Bool { value.allowsCellularAccess }

    /// The method.
    open var httpMethod: String? { value.httpMethod }

    /// The body in memory.
    open var httpBody: Data? { value.httpBody }

    /// The body that is read while it is sent. See ``URLRequest/httpBodyStream``.
    open var httpBodyStream: InputStream? { value.httpBodyStream }

    /// Whether cookies are sent with the request, and those of its response stored.
    open var httpShouldHandleCookies: Bool { value.httpShouldHandleCookies }

    /// Whether the request may be sent before requests in front of it are answered.
    open var httpShouldUsePipelining: Bool { value.httpShouldUsePipelining }

    /// All header fields; nil as long as none were set.
    open var allHTTPHeaderFields: [String: String]? { value.allHTTPHeaderFields }

    /// The value of a field. Names are compared without regard to ASCII case.
    open func value(forHTTPHeaderField field: String) -> String? {
        value.value(forHTTPHeaderField: field)
    }

    // MARK: - Copying

    /// A request that never changes: this one, unless it is mutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// A request of its own that may be changed.
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

    /// Archives the request, with its header fields and its body in memory. Neither a body stream nor interceptors nor
    /// properties that classes have noted are part of it.
    open func encode(with coder: NSCoder) {
        value.encode(to: coder)
    }

    // MARK: - Comparing and describing

    /// Whether the other object is a request that would be sent alike.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSURLRequest else { return false }
        return self === other || value == other.value
    }

    /// The same for equal requests.
    open override var hash: Int { value.hashValue }

    /// The URL without user name and password.
    open override var description: String { value.description }
}
