import AFBase
public import Foundation

/// Makes requests of parameters that are `Encodable`.
///
/// ```swift
/// struct Search: Encodable {
///     var text: String
///     var page: Int
/// }
/// let serializer = EncodableRequestSerializer(encoder: JSONEncoder())
/// let request = try serializer.request(
///     withMethod: "GET",
///     urlString: "https://api.example.com/items",
///     parameters: Search(text: "swift", page: 2)
/// )
/// #expect(request.url?.query == "page=2&text=swift")
/// ```
///
/// In the body they are JSON. In the query they are the members of that same JSON, flattened as
/// ``HTTPRequestSerializer/queryString(from:)`` does it. They must become an object or an array. Without parameters there is no body.
open class EncodableRequestSerializer: HTTPRequestSerializer, @unchecked Sendable {
    private let sharedEncoder: Lock<JSONEncoder>

    /// A serializer with an encoder of the usual settings.
    public required init() {
        sharedEncoder = Lock(JSONEncoder())
        super.init()
    }

    /// A serializer with this encoder.
    public convenience init(encoder: JSONEncoder) {
        self.init()
        self.encoder = encoder
    }

    /// Encodes the parameters, on every thread that makes a request: do not change its settings any more. Copies share
    /// it; a serializer read from an archive has a new one.
    open var encoder: JSONEncoder {
        get { sharedEncoder.withLock { $0 } }
        set { sharedEncoder.set(\.self, newValue) }
    }

    /// Puts header fields and parameters into a request.
    ///
    /// Errors: that of the encoder; or -1016 of ``HTTPRequestSerializer/errorDomain``, for parameters that become
    /// neither an object nor an array, and for those that are not `Encodable`, with an `EncodingError` as the
    /// underlying error.
    open override func request(
        bySerializing request: URLRequest,
        withParameters parameters: Any?,
        error: NSErrorPointer
    ) -> URLRequest? {
        reporting(to: error) {
            let settings = snapshot
            guard let parameters else { return settings.addingHeaders(to: request) }
            let value = try EncodableParameters.checked(parameters)
            if settings.putsParametersInURI(request) {
                return try settings.serialize(request, parameters: parameters) { _ in
                    try EncodableParameters.tree(value, encoder: encoder)
                }
            }
            var serialized = settings.addingHeaders(to: request)
            let body = try EncodableParameters.data(value, encoder: encoder)
            serialized.setContentType("application/json")
            serialized.httpBody = body
            return serialized
        }
    }

    override var isOfLibrary: Bool { type(of: self) == EncodableRequestSerializer.self }

    /// Another serializer with the same settings and the same encoder.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = super.copy(with: zone)
        (copy as? EncodableRequestSerializer)?.encoder = encoder
        return copy
    }

    /// Reads a serializer; nil if the archive is damaged. It has an encoder of the usual settings.
    public required init?(coder: NSCoder) {
        sharedEncoder = Lock(JSONEncoder())
        super.init(coder: coder)
    }
}

/// Turns `Encodable` parameters into JSON.
enum EncodableParameters {
    /// An object or an array of JSON.
    static func data(_ value: any Encodable, encoder: JSONEncoder) throws -> Data {
        let data = try encoder.encode(value)
        guard isCollection(data) else { throw RequestError.notJSON }
        return data
    }

    /// The same as dictionaries and arrays, for queries.
    static func tree(_ value: any Encodable, encoder: JSONEncoder) throws -> Any {
        try JSONSerialization.jsonObject(with: data(value, encoder: encoder))
    }

    /// The same for a value of one of the program's types; all other parameters are returned as they are.
    static func unfolded(_ parameters: Any) throws -> Any {
        guard case .leaf(let value as any Encodable) = ParameterNode(parameters) else { return parameters }
        let data = try JSONEncoder().encode(value)
        return isCollection(data) ? try JSONSerialization.jsonObject(with: data) : parameters
    }

    private static func isCollection(_ json: Data) -> Bool {
        let first = json.first { $0 > UInt8(ascii: " ") }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }

    /// - Throws: An error that wraps an `EncodingError`.
    static func checked(_ value: Any) throws -> any Encodable {
        if let value = value as? any Encodable { return value }
        let type = "\(type(of: value))"
        let cause = EncodingError.Context(codingPath: [], debugDescription: "\(type) is not Encodable.")
        throw RequestError.make(
            .cannotDecodeContentData,
            reason: "The `parameters` argument is of the type \(type), which is not Encodable.",
            advice: "Make it Encodable, or use JSONRequestSerializer for dictionaries of values of any type.",
            underlying: EncodingError.invalidValue(value, cause)
        )
    }
}
