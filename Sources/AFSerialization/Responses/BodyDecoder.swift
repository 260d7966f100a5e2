public import Foundation

/// Decodes bodies for a ``DecodingResponseSerializer``.
///
/// `JSONDecoder` and `PropertyListDecoder` are such decoders; conform one of your own for another format:
///
/// ```swift
/// extension CBORDecoder: BodyDecoder {
///     var acceptableContentTypes: Set<String>? { ["application/cbor"] }
/// }
/// ```
///
/// Called on a concurrent queue, for several bodies at once.
public protocol BodyDecoder: Sendable {
    /// The media types of what it decodes, in lower case; nil, unless you say otherwise, for any.
    var acceptableContentTypes: Set<String>? { get }

    /// Makes a value of a body that is not empty.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension BodyDecoder {
    /// Nil: any.
    public var acceptableContentTypes: Set<String>? { nil }
}
