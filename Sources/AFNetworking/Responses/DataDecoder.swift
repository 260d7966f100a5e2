public import Foundation

/// Makes values of bodies, for ``DecodableResponseSerializer``.
///
/// `JSONDecoder` and `PropertyListDecoder` are such decoders; conform one of your own for another format:
///
/// ```swift
/// extension CBORDecoder: DataDecoder {
///     var acceptableContentTypes: Set<String>? { ["application/cbor"] }
/// }
/// ```
///
/// Called on a concurrent queue, for several bodies at once.
public protocol DataDecoder: Sendable {
    /// The media types of what it decodes, in lower case; nil, unless you say otherwise, for any.
    var acceptableContentTypes: Set<String>? { get }

    /// Makes a value of a body that is not empty.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension DataDecoder {
    /// Nil: any.
    public var acceptableContentTypes: Set<String>? { nil }
}

extension JSONDecoder: DataDecoder {
    /// Those of ``JSONResponseSerializer``.
    public var acceptableContentTypes: Set<String>? { JSONResponseSerializer.contentTypes }
}

extension PropertyListDecoder: DataDecoder {
    /// Those of ``PropertyListResponseSerializer``.
    public var acceptableContentTypes: Set<String>? { PropertyListResponseSerializer.contentTypes }
}
