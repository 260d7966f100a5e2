import AFBase
public import Foundation

// Unchecked as its superclass; adds locked state.
/// Decodes bodies to values of a type of your own.
///
/// ```swift
/// struct User: Decodable { var name: String }
///
/// let serializer = DecodingResponseSerializer(User.self)
/// let user = try serializer.value(for: response, data: data)
/// ```
///
/// Accepts the content types of its decoder: for `JSONDecoder` those of ``JSONResponseSerializer``. JSON may be in
/// UTF-8, UTF-16 or UTF-32, with or without a byte order mark, and have 128 levels of arrays and dictionaries.
///
/// An empty body has no object, unless `Value` is ``EmptyRepresentable``: of an optional it makes nil, of
/// ``EmptyBody`` its value.
///
/// It can be copied, but not archived, since its decoder cannot: an archive of it cannot be read. A subclass that is
/// not generic is archived as a member of a ``CompoundResponseSerializer``.
open class DecodingResponseSerializer<Value: Decodable & SendableMetatype>: HTTPResponseSerializer, @unchecked Sendable
{
    private struct Decoding: Sendable {
        let decode: @Sendable (Data) throws -> Value
        /// Whether it is JSON, decoded by Foundation.
        let isJSON: Bool
    }

    private let decoding: Lock<Decoding>

    /// A serializer of JSON.
    public required init() {
        decoding = Lock(Self.decode(with: JSONDecoder()))
        super.init()
        acceptableContentTypes = JSONResponseSerializer.contentTypes
    }

    /// A serializer with a decoder.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - decoder: The decoder. Do not change it while it is in use.
    public convenience init(_ type: Value.Type = Value.self, decoder: any BodyDecoder = JSONDecoder()) {
        self.init()
        decoding.withLock { $0 = Self.decode(with: decoder) }
        acceptableContentTypes = decoder.acceptableContentTypes
    }

    /// A serializer with a function.
    ///
    /// - Parameters:
    ///   - acceptableContentTypes: The media types of what it decodes; any by default.
    ///   - decode: Makes a value of a body that is not empty. Called on any thread, for several bodies at once.
    public convenience init(
        acceptableContentTypes: Set<String>? = nil,
        decode: @escaping @Sendable (Data) throws -> Value
    ) {
        self.init()
        decoding.withLock { $0 = Decoding(decode: decode, isJSON: false) }
        self.acceptableContentTypes = acceptableContentTypes
    }

    /// The value in a response.
    ///
    /// - Throws: What is wrong with its status or content type, else the error of the decoder as it is, else, for a
    ///   response without a body, an error with the code -1014 of ``HTTPResponseSerializer/errorDomain``.
    public func value(for response: URLResponse?, data: Data?) throws -> Value {
        let (object, error) = serialize(response, data: data)
        if let error = error as NSError? { throw Self.firstProblem(in: error) }
        if let value = object as? Value { return value }
        throw noValue(in: response)
    }

    /// Returns a `Value`.
    ///
    /// If only the status is not acceptable, returns the object and an error. A `DecodingError` becomes one of
    /// `NSCocoaErrorDomain`; the original is under ``HTTPResponseSerializer/decodingErrorKey``.
    open override func responseObject(for response: URLResponse?, data: Data?, error: NSErrorPointer) -> Any? {
        serializeContent(of: response, data: data, error: error) { body in
            let decoding = decoding.withLock { $0 }
            return try BodyDecoding.object(in: body, decode: decoding.decode)
        }
    }

    private static func decode(with decoder: any BodyDecoder) -> Decoding {
        Decoding(decode: { try BodyDecoding<Value>.value(in: $0, by: decoder) }, isJSON: decoder is JSONDecoder)
    }

    /// Only in the Swift task of its caller: to decode a value runs the program's code.
    package override func isQuick(bodyLength: Int, isAwaited: Bool) -> Bool {
        isAwaited && bodyLength <= Self.quickLength && decoding.withLock { $0.isJSON }
            && type(of: self) == DecodingResponseSerializer.self
    }

    // MARK: - Errors

    /// The error about the response or, without one, that of the decoder: the latter often follows from the former.
    private static func firstProblem(in error: NSError) -> any Error {
        if let beneath = error.userInfo[NSUnderlyingErrorKey] as? NSError,
            beneath.domain == HTTPResponseSerializer.errorDomain
        {
            return error.domain == HTTPResponseSerializer.errorDomain ? error : beneath
        }
        return error.userInfo[HTTPResponseSerializer.decodingErrorKey] as? any Error ?? error
    }

    private func noValue(in response: URLResponse?) -> NSError {
        var userInfo: [String: Any] = [
            NSLocalizedDescriptionKey: "Request failed: no body to decode \(Value.self) from"
        ]
        if let response { userInfo[HTTPResponseSerializer.failingResponseErrorKey] = response }
        userInfo[NSLocalizedFailureReasonErrorKey] = ResponseSummary(response, body: nil)?.text
        return NSError(
            domain: HTTPResponseSerializer.errorDomain,
            code: NSURLErrorZeroByteResource,
            userInfo: userInfo
        )
    }

    // MARK: - Copying and coding

    /// Another serializer of the same class with the same settings and the very same decoder.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = super.copy(with: zone)
        let decoding = decoding.withLock { $0 }
        (copy as? DecodingResponseSerializer<Value>)?.decoding.withLock { $0 = decoding }
        return copy
    }

    /// Reads the settings of an archived subclass, which decodes JSON.
    public required init?(coder: NSCoder) {
        decoding = Lock(Self.decode(with: JSONDecoder()))
        super.init(coder: coder)
    }

    /// A class that no archive restores: Foundation ends the process when it archives a generic class.
    open override var classForKeyedArchiver: AnyClass? { UnarchivableResponseSerializer.self }
}

/// Stands in archives for serializers that cannot be archived.
// Unchecked as its superclass; adds nothing.
final class UnarchivableResponseSerializer: HTTPResponseSerializer, @unchecked Sendable {
    required init() {
        super.init()
    }

    required init?(coder: NSCoder) { nil }
}

extension JSONDecoder: BodyDecoder {
    /// Those of ``JSONResponseSerializer``.
    public var acceptableContentTypes: Set<String>? { JSONResponseSerializer.contentTypes }
}

extension PropertyListDecoder: BodyDecoder {
    /// Those of ``PropertyListResponseSerializer``.
    public var acceptableContentTypes: Set<String>? { PropertyListResponseSerializer.contentTypes }
}

/// A type with a value for a response without a body.
///
/// ``DecodingResponseSerializer`` returns it for an empty body; for other types it then returns nothing. Optionals and
/// ``EmptyBody`` are such types.
public protocol EmptyRepresentable {
    /// The value for a response without a body.
    static var emptyValue: Self { get }
}

extension Optional: EmptyRepresentable {
    /// Nil.
    public static var emptyValue: Wrapped? { nil }
}
