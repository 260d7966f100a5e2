import AFBase
import Foundation

/// The settings of a request serializer. One that is nil was never set: it is not put on requests, and the session's
/// configuration decides.
struct RequestSettings: Sendable {
    var stringEncoding = String.Encoding.utf8
    var allowsCellularAccess: Bool?
    var cachePolicy: URLRequest.CachePolicy?
    var handlesCookies: Bool?
    var usesPipelining: Bool?
    var networkServiceType: URLRequest.NetworkServiceType?
    var timeout: TimeInterval?
    var bodyCoding: BodyCoding?
    var headers = DefaultHeaders.standard {
        didSet { fields = URLRequest.SharedFields(headers) }
    }
    /// ``headers``, as requests take them.
    private var fields = RequestSettings.standardFields
    private static let standardFields = URLRequest.SharedFields(DefaultHeaders.standard)
    var methodsInURI: Set<String> = ["GET", "HEAD", "DELETE"]
    var queryStyle = HTTPRequestQueryStringSerializationStyle.defaultStyle
    var queryBlock: HTTPRequestSerializer.QueryStringBlock?

    init() {}

    /// A request without parameters.
    ///
    /// - Parameter hasFields: Whether the header fields are added at once.
    func request(_ method: String, url: URL, hasFields: Bool) -> URLRequest {
        var request = URLRequest(url: url, method: method, shared: hasFields ? fields : nil)
        apply(to: &request)
        return request
    }

    /// Puts the settings that were set on the request.
    func apply(to request: inout URLRequest) {
        if let allowsCellularAccess { request.allowsCellularAccess = allowsCellularAccess }
        if let cachePolicy { request.cachePolicy = cachePolicy }
        if let handlesCookies { request.httpShouldHandleCookies = handlesCookies }
        if let usesPipelining { request.httpShouldUsePipelining = usesPipelining }
        if let networkServiceType { request.networkServiceType = networkServiceType }
        if let timeout { request.timeoutInterval = timeout }
        if let bodyCoding { request.bodyCoding = bodyCoding }
    }

    /// The request with the header fields that it lacks.
    func addingHeaders(to request: URLRequest) -> URLRequest {
        var result = request
        result.addLacking(fields)
        return result
    }

    func putsParametersInURI(_ request: URLRequest) -> Bool {
        methodsInURI.contains(ASCII.uppered(request.httpMethod ?? "GET"))
    }

    /// Nil if the block has no query, and no error either.
    ///
    /// - Parameters:
    ///   - request: The request as it came, without the serializer's header fields.
    ///   - parameters: The parameters as they came.
    ///   - unfold: Turns them into dictionaries and arrays.
    func query(for request: URLRequest, parameters: Any, unfold: (Any) throws -> Any) throws -> String? {
        if let queryBlock {
            let (query, error) = collectingError { queryBlock(request, parameters, $0) }
            if let error { throw error }
            return query
        }
        switch queryStyle {
        case .defaultStyle:
            guard let query = try ParameterPairs(unfold(parameters)).query else { throw RequestError.nestedTooDeep }
            return query
        }
    }

    /// Adds header fields, and the parameters as a query or a form.
    func serialize(
        _ request: URLRequest,
        parameters: Any?,
        unfold: (Any) throws -> Any = { $0 }
    ) throws -> URLRequest {
        var serialized = addingHeaders(to: request)
        let query = try parameters.flatMap { try self.query(for: request, parameters: $0, unfold: unfold) }
        if putsParametersInURI(request) {
            if let query, !query.isEmpty { try RequestSettings.append(query, to: &serialized) }
        } else {
            serialized.setContentType("application/x-www-form-urlencoded")
            guard let body = (query ?? "").data(using: stringEncoding) else {
                throw RequestError.unencodable(stringEncoding)
            }
            serialized.httpBody = body
        }
        return serialized
    }

    private static func append(_ query: String, to request: inout URLRequest) throws {
        guard let url = request.url else { throw RequestError.withoutURL }
        let text = url.absoluteString
        let fragment = text.firstIndex(of: "#") ?? text.endIndex
        let separator = text[..<fragment].contains("?") ? "&" : "?"
        guard let longer = URL(string: text[..<fragment] + separator + query + text[fragment...]) else {
            throw RequestError.unusableQuery
        }
        request.url = longer
    }
}

extension URLRequest {
    /// Sets the content type of the body, unless there is one.
    mutating func setContentType(_ type: String) {
        guard value(forHTTPHeaderField: "Content-Type") == nil else { return }
        setValue(type, forHTTPHeaderField: "Content-Type")
    }
}

extension RequestSettings {
    private enum Key {
        static let headers = "mutableHTTPRequestHeaders"
        static let queryStyle = "queryStringSerializationStyle"
        static let stringEncoding = "stringEncoding"
        static let allowsCellularAccess = "allowsCellularAccess"
        static let cachePolicy = "cachePolicy"
        static let handlesCookies = "HTTPShouldHandleCookies"
        static let usesPipelining = "HTTPShouldUsePipelining"
        static let networkServiceType = "networkServiceType"
        static let timeout = "timeoutInterval"
        static let bodyCoding = "bodyCoding"
        static let methodsInURI = "HTTPMethodsEncodingParametersInURI"
    }

    /// Nil if the archive is damaged.
    init?(_ coder: NSCoder) {
        guard coder.allowsKeyedCoding else { return nil }
        if coder.containsValue(forKey: Key.headers) {
            let texts = coder.decodeObject(of: [NSDictionary.self, NSString.self], forKey: Key.headers)
            guard let headers = texts as? [String: String] else { return nil }
            self.headers = headers
        }
        if coder.containsValue(forKey: Key.methodsInURI) {
            let texts = coder.decodeObject(of: [NSArray.self, NSString.self], forKey: Key.methodsInURI)
            guard let methods = texts as? [String] else { return nil }
            methodsInURI = Set(methods)
        }
        // A property's observer is not called in an initializer.
        fields = URLRequest.SharedFields(headers)
        if let style = coder.number(forKey: Key.queryStyle) {
            queryStyle = HTTPRequestQueryStringSerializationStyle(rawValue: style) ?? .defaultStyle
        }
        if let encoding = coder.number(forKey: Key.stringEncoding) { stringEncoding = .init(rawValue: encoding) }
        cachePolicy = coder.number(forKey: Key.cachePolicy).flatMap(URLRequest.CachePolicy.init)
        networkServiceType = coder.number(forKey: Key.networkServiceType)
            .flatMap(URLRequest.NetworkServiceType.init)
        allowsCellularAccess = coder.truth(forKey: Key.allowsCellularAccess)
        handlesCookies = coder.truth(forKey: Key.handlesCookies)
        usesPipelining = coder.truth(forKey: Key.usesPipelining)
        if coder.containsValue(forKey: Key.timeout) { timeout = coder.decodeDouble(forKey: Key.timeout) }
        if coder.containsValue(forKey: Key.bodyCoding) {
            let name = coder.decodeObject(of: NSString.self, forKey: Key.bodyCoding)
            bodyCoding = (name as String?).flatMap(BodyCoding.init)
        }
    }

    /// All but the query block, which is code.
    func encode(with coder: NSCoder) {
        coder.encode(NSDictionary(dictionary: headers), forKey: Key.headers)
        coder.encode(NSArray(array: methodsInURI.sorted()), forKey: Key.methodsInURI)
        coder.encode(Int(bitPattern: queryStyle.rawValue), forKey: Key.queryStyle)
        coder.encode(Int(bitPattern: stringEncoding.rawValue), forKey: Key.stringEncoding)
        if let cachePolicy { coder.encode(Int(cachePolicy.rawValue), forKey: Key.cachePolicy) }
        if let networkServiceType { coder.encode(Int(networkServiceType.rawValue), forKey: Key.networkServiceType) }
        if let allowsCellularAccess { coder.encode(allowsCellularAccess, forKey: Key.allowsCellularAccess) }
        if let handlesCookies { coder.encode(handlesCookies, forKey: Key.handlesCookies) }
        if let usesPipelining { coder.encode(usesPipelining, forKey: Key.usesPipelining) }
        if let timeout { coder.encode(timeout, forKey: Key.timeout) }
        if let bodyCoding { coder.encode(bodyCoding.rawValue as NSString, forKey: Key.bodyCoding) }
    }
}

extension NSCoder {
    /// Nil if there is none.
    func number(forKey key: String) -> UInt? {
        containsValue(forKey: key) ? UInt(bitPattern: decodeInteger(forKey: key)) : nil
    }

    fileprivate func truth(forKey key: String) -> Bool? {
        containsValue(forKey: key) ? decodeBool(forKey: key) : nil
    }
}
