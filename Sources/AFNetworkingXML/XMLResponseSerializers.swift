public import AFNetworking
public import Foundation
import FoundationXML

// Unchecked as its superclass; adds nothing.
/// Returns an `XMLParser` over a body in XML, not yet started.
///
/// ```swift
/// let parser = serializer.serialize(response, data: data).object as? XMLParser
/// parser?.delegate = self
/// let isWellFormed = parser?.parse()
/// ```
///
/// Accepts `application/xml` and `text/xml`. An empty body has no object. The parser loads no external entities; leave
/// its `externalEntityResolvingPolicy` and `shouldResolveExternalEntities` as they are, or a server can have your files
/// read.
///
/// The parser reports text that is not XML. Input at which Foundation's parser would end the process is an error here:
/// text that is not valid in its encoding, and documents that declare entities or notations. For those use
/// ``XMLDocumentResponseSerializer``.
open class XMLParserResponseSerializer: HTTPResponseSerializer, @unchecked Sendable {
    /// A serializer that accepts the media types of XML.
    public required init() {
        super.init()
        acceptableContentTypes = XMLBody.contentTypes
    }

    /// Returns an `XMLParser`.
    ///
    /// If only the status is not acceptable, returns the object and an error.
    open override func responseObject(for response: URLResponse?, data: Data?, error: NSErrorPointer) -> Any? {
        serializeContent(of: response, data: data, error: error) { body in
            try XMLBody(body)?.makeParser()
        }
    }

    /// Reads an archived serializer.
    public required init?(coder: NSCoder) {
        super.init(coder: coder)
    }
}
