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
