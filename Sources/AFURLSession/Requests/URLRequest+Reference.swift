public import Foundation

extension URLRequest {
    /// Makes the value of an object, as it is now.
    public init(_ request: NSURLRequest) {
        self = request.value
    }
}

extension URLRequest: ReferenceConvertible {
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

    /// The value of an object. Nil becomes a request that cannot be sent.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSURLRequest?) -> URLRequest {
        source?.value ?? .unknown
    }

    /// Of somebody who has nothing to go by.
    static var unknown: URLRequest {
        var request = URLRequest(url: URL(fileURLWithPath: "/"))
        request.url = nil
        return request
    }
}
