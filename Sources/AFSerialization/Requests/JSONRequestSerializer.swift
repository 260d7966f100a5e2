import AFBase
public import Foundation

/// Makes requests whose body is JSON.
///
/// Parameters are dictionaries and arrays of text, finite numbers, Booleans, `NSNull`, and further dictionaries and
/// arrays; or one value that is `Encodable` and becomes an object or an array of JSON. In the query they are flattened
/// as ``HTTPRequestSerializer/queryString(from:)`` does it. Without parameters there is no body.
open class JSONRequestSerializer: HTTPRequestSerializer, @unchecked Sendable {
    private let options: Lock<JSONSerialization.WritingOptions>

    /// A serializer that writes JSON without white space.
    public required init() {
        options = Lock([])
        super.init()
    }

    /// A serializer that writes JSON in this way.
    public convenience init(writingOptions: JSONSerialization.WritingOptions) {
        self.init()
        self.writingOptions = writingOptions
    }

    /// A new serializer like `init(writingOptions:)`.
    open class func serializer(withWritingOptions writingOptions: JSONSerialization.WritingOptions) -> Self {
        let serializer = Self()
        serializer.writingOptions = writingOptions
        return serializer
    }

    /// How JSON is written. None; ignored for parameters that are `Encodable`.
    open var writingOptions: JSONSerialization.WritingOptions {
        get { options.withLock { $0 } }
        set { options.withLock { $0 = newValue } }
    }

    /// Puts header fields, and parameters as JSON, into a request.
    ///
    /// Errors: -1016 of ``HTTPRequestSerializer/errorDomain`` for parameters that are no JSON, or that of the encoder.
    open override func request(
        bySerializing request: URLRequest,
        withParameters parameters: Any?,
        error: NSErrorPointer
    ) -> URLRequest? {
        reporting(to: error) {
            let settings = snapshot
            if settings.putsParametersInURI(request) {
                return try settings.serialize(request, parameters: parameters) { try EncodableParameters.unfolded($0) }
            }
            var serialized = settings.addingHeaders(to: request)
            guard let parameters else { return serialized }
            let body = try JSONParameters.data(parameters, options: writingOptions)
            serialized.setContentType("application/json")
            serialized.httpBody = body
            return serialized
        }
    }

    override var isOfLibrary: Bool { type(of: self) == JSONRequestSerializer.self }

    /// Another serializer with the same settings.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = super.copy(with: zone)
        (copy as? JSONRequestSerializer)?.writingOptions = writingOptions
        return copy
    }

    /// Reads a serializer; nil if the archive is damaged.
    public required init?(coder: NSCoder) {
        options = Lock(.init(rawValue: coder.number(forKey: "writingOptions") ?? 0))
        super.init(coder: coder)
    }

    /// Writes all settings but the query block.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(Int(bitPattern: writingOptions.rawValue), forKey: "writingOptions")
    }
}
