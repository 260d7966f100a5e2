import AFBase
public import Foundation

/// Makes requests whose body is a property list.
///
/// Parameters in the query are those of ``HTTPRequestSerializer``. Those in the body are dictionaries with text as
/// keys, arrays, text (in XML without control characters), finite numbers, Booleans, dates and data. Without parameters
/// there is no body.
open class PropertyListRequestSerializer: HTTPRequestSerializer, @unchecked Sendable {
    private struct Style: Sendable {
        var format = PropertyListSerialization.PropertyListFormat.xml
        var options: PropertyListSerialization.WriteOptions = 0
    }

    private let style: Lock<Style>

    /// A serializer that writes XML.
    public required init() {
        style = Lock(Style())
        super.init()
    }

    /// A serializer that writes this format.
    public convenience init(
        format: PropertyListSerialization.PropertyListFormat,
        writeOptions: PropertyListSerialization.WriteOptions
    ) {
        self.init()
        self.format = format
        self.writeOptions = writeOptions
    }

    /// A new serializer like `init(format:writeOptions:)`.
    open class func serializer(
        withFormat format: PropertyListSerialization.PropertyListFormat,
        writeOptions: PropertyListSerialization.WriteOptions
    ) -> Self {
        let serializer = Self()
        serializer.format = format
        serializer.writeOptions = writeOptions
        return serializer
    }

    /// The format. XML; `openStep` cannot be written, and is an error.
    open var format: PropertyListSerialization.PropertyListFormat {
        get { style.withLock { $0.format } }
        set { style.withLock { $0.format = newValue } }
    }

    /// Handed to `PropertyListSerialization` as they are. 0.
    open var writeOptions: PropertyListSerialization.WriteOptions {
        get { style.withLock { $0.options } }
        set { style.withLock { $0.options = newValue } }
    }

    /// Puts header fields, and parameters as a property list, into a request.
    ///
    /// Errors: -1016 of ``HTTPRequestSerializer/errorDomain`` for parameters that are no property list, or that of the
    /// encoder.
    open override func request(
        bySerializing request: URLRequest,
        withParameters parameters: Any?,
        error: NSErrorPointer
    ) -> URLRequest? {
        if snapshot.putsParametersInURI(request) {
            return super.request(bySerializing: request, withParameters: parameters, error: error)
        }
        return reporting(to: error) {
            var serialized = snapshot.addingHeaders(to: request)
            guard let parameters else { return serialized }
            let style = style.withLock { $0 }
            let body = try PropertyListParameters.data(parameters, format: style.format, options: style.options)
            serialized.setContentType("application/x-plist")
            serialized.httpBody = body
            return serialized
        }
    }

    override var isOfLibrary: Bool { type(of: self) == PropertyListRequestSerializer.self }

    /// Another serializer with the same settings.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = super.copy(with: zone)
        let style = style.withLock { $0 }
        (copy as? PropertyListRequestSerializer)?.style.withLock { $0 = style }
        return copy
    }

    /// Reads a serializer; nil if the archive is damaged.
    public required init?(coder: NSCoder) {
        let format = coder.number(forKey: "format").flatMap(PropertyListSerialization.PropertyListFormat.init)
        let options = coder.number(forKey: "writeOptions") ?? 0
        style = Lock(Style(format: format ?? .xml, options: Int(bitPattern: options)))
        super.init(coder: coder)
    }

    /// Writes all settings but the query block.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(Int(format.rawValue), forKey: "format")
        coder.encode(Int(writeOptions), forKey: "writeOptions")
    }
}
