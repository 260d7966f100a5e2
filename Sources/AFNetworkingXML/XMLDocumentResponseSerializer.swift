public import AFNetworking
public import Foundation
public import FoundationXML
import Synchronization

// Unchecked as its superclass; adds an atomic value.
/// Returns an `XMLDocument` of a body in XML.
///
/// Accepts `application/xml` and `text/xml`. An empty body has no object; what is not well-formed is an error, and so
/// are elements more than 256 levels deep and entities that grow out of all proportion.
///
/// On Linux, Foundation keeps every `XMLDocument` until the program ends. A program that runs for long and reads many is
/// better off with ``XMLParserResponseSerializer``.
///
/// Nothing that a document names is ever loaded, whatever the options say: neither external entities nor an external
/// document type.
open class XMLDocumentResponseSerializer: HTTPResponseSerializer, @unchecked Sendable {
    private static let optionsKey = "AF.options"

    private let rawOptions: Atomic<UInt>

    /// A serializer without options.
    public required init() {
        rawOptions = Atomic(0)
        super.init()
        acceptableContentTypes = XMLBody.contentTypes
    }

    /// A serializer with options.
    public convenience init(xmlDocumentOptions options: XMLNode.Options) {
        self.init()
        self.options = options
    }

    /// A new serializer with options.
    open class func serializer(withXMLDocumentOptions options: XMLNode.Options) -> Self {
        let serializer = Self()
        serializer.options = options
        return serializer
    }

    /// How documents are read. None.
    ///
    /// Options that load what a document names have no effect. With `documentValidate` every document is an error: it
    /// would be validated against a document type that the server chooses, and that may have to be loaded.
    open var options: XMLNode.Options {
        get { XMLNode.Options(rawValue: rawOptions.load(ordering: .relaxed)) }
        set { rawOptions.store(newValue.rawValue, ordering: .relaxed) }
    }

    /// Returns an `XMLDocument`.
    ///
    /// If only the status is not acceptable, returns the object and an error.
    open override func responseObject(for response: URLResponse?, data: Data?, error: NSErrorPointer) -> Any? {
        serializeContent(of: response, data: data, error: error) { body in
            try XMLBody(body)?.makeDocument(options)
        }
    }

    // MARK: - Copying and coding

    /// Another serializer of the same class with the same settings.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = super.copy(with: zone)
        (copy as? XMLDocumentResponseSerializer)?.options = options
        return copy
    }

    /// Reads an archived serializer.
    public required init?(coder: NSCoder) {
        rawOptions = Atomic(UInt(bitPattern: coder.decodeInteger(forKey: Self.optionsKey)))
        super.init(coder: coder)
    }

    /// Archives the settings.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(Int(bitPattern: options.rawValue), forKey: Self.optionsKey)
    }
}
