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
