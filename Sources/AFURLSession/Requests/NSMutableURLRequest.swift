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

    /// The document of which what is loaded is a part.
    open override var mainDocumentURL: URL? {
        get { value.mainDocumentURL }
        set { value.mainDocumentURL = newValue }
    }

    /// What the request is for.
    open override var networkServiceType: NSURLRequest.NetworkServiceType {
        get { value.networkServiceType }
        set { value.networkServiceType = newValue }
    }

    /// Whether the request may be sent by way of a cellular network.
    open override var allowsCellularAccess: Bool {
        get { value.allowsCellularAccess }
        set { value.allowsCellularAccess = newValue }
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

    /// The body that is read while it is sent. See ``URLRequest/httpBodyStream``.
    open override var httpBodyStream: InputStream? {
        get { value.httpBodyStream }
        set { value.httpBodyStream = newValue }
    }

    /// Whether cookies are sent with the request, and those of its response stored.
    open override var httpShouldHandleCookies: Bool {
        get { value.httpShouldHandleCookies }
        set { value.httpShouldHandleCookies = newValue }
    }

    /// Whether the request may be sent before requests in front of it are answered.
    open override var httpShouldUsePipelining: Bool {
        get { value.httpShouldUsePipelining }
        set { value.httpShouldUsePipelining = newValue }
    }

    /// All header fields; nil as long as none were set. Setting replaces all of them.
    open override var allHTTPHeaderFields: [String: String]? {
        get { value.allHTTPHeaderFields }
        set { value.allHTTPHeaderFields = newValue }
    }

    /// Replaces the value of a field, or removes the field if the value is nil. A field that is there keeps its place
    /// and the spelling of its name.
    open func setValue(_ value: String?, forHTTPHeaderField field: String) {
        self.value.setValue(value, forHTTPHeaderField: field)
    }

    /// Adds a value to a field. An earlier value is kept in front of it, with a comma between.
    open func addValue(_ value: String, forHTTPHeaderField field: String) {
        self.value.addValue(value, forHTTPHeaderField: field)
    }

    /// A request that stays as this one is now.
    open override func copy(with zone: NSZone? = nil) -> Any { NSURLRequest(value) }
}
