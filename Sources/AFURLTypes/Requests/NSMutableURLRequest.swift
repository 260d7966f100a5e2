public import Foundation

/// A request that can be changed in place. Use it from one thread at a time.
open class NSMutableURLRequest: NSURLRequest {
    /// The URL to load.
    open override var url: URL? {
        get { value.url }
        set { value.url = newValue }
    }

    /// How a cache may be used.
    open override var cachePolicy: NSURLRequest.CachePolicy {
        get { value.cachePolicy }
        set { value.cachePolicy = newValue }
    }

    /// The longest time in seconds without any progress.
    open override var timeoutInterval: TimeInterval {
        get { value.timeoutInterval }
        set { value.timeoutInterval = newValue }
    }

    /// The URL of the document that this resource is a part of.
    open override var mainDocumentURL: URL? {
        get { value.mainDocumentURL }
        set { value.mainDocumentURL = newValue }
    }

    /// What the request is for.
    open override var networkServiceType: NSURLRequest.NetworkServiceType {
        get { value.networkServiceType }
        set { value.networkServiceType = newValue }
    }

    /// Whether the session may send the request over a cellular network.
    open override var allowsCellularAccess: Bool {
        get { value.allowsCellularAccess }
        set { value.allowsCellularAccess = newValue }
    }

    /// Kept, and of no effect here: ``URLRequest/allowsExpensiveNetworkAccess``.
    open override var allowsExpensiveNetworkAccess: Bool {
        get { value.allowsExpensiveNetworkAccess }
        set { value.allowsExpensiveNetworkAccess = newValue }
    }

    /// Kept, and of no effect here: ``URLRequest/allowsConstrainedNetworkAccess``.
    open override var allowsConstrainedNetworkAccess: Bool {
        get { value.allowsConstrainedNetworkAccess }
        set { value.allowsConstrainedNetworkAccess = newValue }
    }

    /// Kept, and of no effect here: ``URLRequest/attribution-swift.property``.
    open override var attribution: Attribution {
        get { value.attribution }
        set { value.attribution = newValue }
    }

    /// Kept, and of no effect here: ``URLRequest/requiresDNSSECValidation``.
    open override var requiresDNSSECValidation: Bool {
        get { value.requiresDNSSECValidation }
        set { value.requiresDNSSECValidation = newValue }
    }

    /// Kept, and of no effect here: ``URLRequest/assumesHTTP3Capable``.
    open override var assumesHTTP3Capable: Bool {
        get { value.assumesHTTP3Capable }
        set { value.assumesHTTP3Capable = newValue }
    }

    /// The method, in upper case if it is one that ``URLRequest/httpMethod`` names. Setting nil restores `GET`.
    open override var httpMethod: String? {
        get { value.httpMethod }
        set { value.httpMethod = newValue }
    }

    /// The body in memory. Setting it, also to nil, removes a body stream.
    open override var httpBody: Data? {
        get { value.httpBody }
        set { value.httpBody = newValue }
    }

    /// The body as a stream, which the session reads while it sends. See ``URLRequest/httpBodyStream``.
    open override var httpBodyStream: InputStream? {
        get { value.httpBodyStream }
        set { value.httpBodyStream = newValue }
    }

    /// Whether the session sends cookies with the request, and stores those of its response.
    open override var httpShouldHandleCookies: Bool {
        get { value.httpShouldHandleCookies }
        set { value.httpShouldHandleCookies = newValue }
    }

    /// Whether the session may send the request before the requests in front of it have responses.
    open override var httpShouldUsePipelining: Bool {
        get { value.httpShouldUsePipelining }
        set { value.httpShouldUsePipelining = newValue }
    }

    /// All header fields; nil as long as none were set. Setting it replaces all of them.
    open override var allHTTPHeaderFields: [String: String]? {
        get { value.allHTTPHeaderFields }
        set { value.allHTTPHeaderFields = newValue }
    }

    /// Replaces the value of a field, or removes the field if the value is nil. An existing field keeps its place and
    /// the spelling of its name.
    open func setValue(_ value: String?, forHTTPHeaderField field: String) {
        self.value.setValue(value, forHTTPHeaderField: field)
    }

    /// Adds a value to a field, behind the earlier value and a comma.
    open func addValue(_ value: String, forHTTPHeaderField field: String) {
        self.value.addValue(value, forHTTPHeaderField: field)
    }

    /// An immutable copy of the request as it is now.
    open override func copy(with zone: NSZone? = nil) -> Any { NSURLRequest(value) }
}
