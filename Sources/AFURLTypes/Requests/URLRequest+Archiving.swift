public import Foundation

/// The parts of an archived request.
private enum RequestKey: String {
    case url = "URL"
    case method
    case fields
    case body
    case terms
}

extension URLRequest {
    /// Nil if the archive has no request, or if its terms cannot be read: they may withhold fields.
    package init?(from coder: NSCoder) {
        guard coder.allowsKeyedCoding, let terms = coder.data(.terms).flatMap({ RequestTerms($0) }) else { return nil }
        self = .unknown
        url = coder.text(.url).flatMap { URL(string: $0) }
        httpMethod = coder.text(.method)
        let fields = coder.data(.fields).flatMap { try? JSONDecoder().decode([String: String].self, from: $0) }
        allHTTPHeaderFields = fields
        httpBody = coder.data(.body)
        terms.apply(to: &self)
    }

    /// Leaves out interceptors, properties and streams, which cannot be archived.
    package func encode(to coder: NSCoder) {
        guard coder.allowsKeyedCoding else { return }
        coder.encode(url?.absoluteString.asObject, forKey: RequestKey.url.rawValue)
        coder.encode(httpMethod?.asObject, forKey: RequestKey.method.rawValue)
        let fields = allHTTPHeaderFields.flatMap { try? JSONEncoder().encode($0) }
        coder.encode(fields.map(NSData.init(data:)), forKey: RequestKey.fields.rawValue)
        coder.encode(httpBody.map(NSData.init(data:)), forKey: RequestKey.body.rawValue)
        coder.encode(NSData(data: RequestTerms(of: self).encoded), forKey: RequestKey.terms.rawValue)
    }
}

extension String {
    fileprivate var asObject: NSString { NSString(string: self) }
}

extension NSCoder {
    fileprivate func text(_ key: RequestKey) -> String? {
        decodeObject(of: NSString.self, forKey: key.rawValue).map { String(describing: $0) }
    }

    fileprivate func data(_ key: RequestKey) -> Data? {
        decodeObject(of: NSData.self, forKey: key.rawValue).map { Data(referencing: $0) }
    }
}

extension URLRequest {
    /// Makes a value from an object, as it is now.
    public init(_ request: NSURLRequest) {
        self = request.value
    }
}

// The compiler finds what `as` needs only where the second protocol is named, which the first includes.
extension URLRequest: ReferenceConvertible, _ObjectiveCBridgeable {
    /// The request as an object.
    public typealias ReferenceType = NSURLRequest

    /// The object of this value.
    public func _bridgeToObjectiveC() -> NSURLRequest { NSURLRequest(self) }

    /// The value of an object.
    public static func _forceBridgeFromObjectiveC(_ source: NSURLRequest, result: inout URLRequest?) {
        result = source.value
    }

    /// The value of an object. Always succeeds.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSURLRequest, result: inout URLRequest?) -> Bool {
        result = source.value
        return true
    }

    /// The value of an object. Nil becomes a request that fails.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSURLRequest?) -> URLRequest {
        source?.value ?? .unknown
    }

    /// A request whose URL the session cannot load.
    package static var unknown: URLRequest {
        var request = URLRequest(url: URL(fileURLWithPath: "/"))
        request.url = nil
        return request
    }
}
