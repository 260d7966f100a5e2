public import Foundation

/// Makes objects of responses.
///
/// Called on a concurrent queue, for several responses at once.
public protocol URLResponseSerialization: NSObjectProtocol, NSCopying, NSSecureCoding, Sendable {
    /// The object in a response.
    ///
    /// An object *and* an error are possible: the decoded body of a response whose status is not acceptable.
    ///
    /// - Parameters:
    ///   - response: The response; its status and content type may be checked.
    ///   - data: Its body.
    ///   - error: Receives the error.
    func responseObject(for response: URLResponse?, data: Data?, error: NSErrorPointer) -> Any?
}

extension URLResponseSerialization {
    /// The object in a response and the error, as values.
    ///
    /// ```swift
    /// let (object, error) = serializer.serialize(response, data: data)
    /// ```
    ///
    /// Both at once are possible: the decoded body of a response whose status is not acceptable. Neither is possible,
    /// too: a response without a body.
    public func serialize(_ response: URLResponse?, data: Data?) -> (object: Any?, error: (any Error)?) {
        let (object, error) = collectingError { responseObject(for: response, data: data, error: $0) }
        return (object, error)
    }

    /// The object in a response; nil if there is none.
    ///
    /// - Throws: The error about the response. The object is lost then; ``serialize(_:data:)`` gives both.
    public func object(for response: URLResponse?, data: Data?) throws -> Any? {
        let (object, error) = serialize(response, data: data)
        if let error { throw error }
        return object
    }
}

/// The domain of errors of response serializers. The codes are those of `NSURLErrorDomain`.
public let URLResponseSerializationErrorDomain = "com.alamofire.error.serialization.response"

/// The key of the ``/AFURLSession/URLResponse`` that was refused, in the user info of an error of
/// ``URLResponseSerializationErrorDomain``.
public let NetworkingOperationFailingURLResponseErrorKey = "com.alamofire.serialization.response.error.response"

/// The key of the refused response's body, a `Data`, in the user info of an error of
/// ``URLResponseSerializationErrorDomain``.
public let NetworkingOperationFailingURLResponseDataErrorKey = "com.alamofire.serialization.response.error.data"

/// The key of what a decoder threw, in the user info of an error of ``DecodingResponseSerializer``.
public let NetworkingOperationFailingDecodingErrorKey = "com.alamofire.serialization.response.error.decoding"
