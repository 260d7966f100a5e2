public import Foundation

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
    static var unknown: URLRequest {
        var request = URLRequest(url: URL(fileURLWithPath: "/"))
        request.url = nil
        return request
    }
}
