import Foundation
import FoundationXML

/// A body in XML that Foundation's classes can read.
struct XMLBody {
    static let contentTypes: Set<String> = ["application/xml", "text/xml"]

    private let data: Data

    /// - Returns: Nil if the body is empty.
    /// - Throws: If it is not valid in its encoding, or larger than libxml2 can count.
    init?(_ body: Data) throws {
        guard !body.isEmpty else { return nil }
        guard body.count < Int(Int32.max) else {
            throw Self.error(XMLErrorCode.outOfMemory, text: "The XML is larger than 2 GiB")
        }
        guard let text = XMLText(body) else {
            throw Self.error(
                XMLErrorCode.invalidEncoding,
                text: "The XML is not valid in the encoding it declares, or in none that is known"
            )
        }
        data = Self.padded(text.data)
    }

    /// A parser that loads no external entities.
    ///
    /// - Throws: If the document would make it end the process.
    func makeParser() throws -> XMLParser {
        let markup = ParserMarkup(text: data) { Self.makeParser(data).parse() }
        guard let safe = markup.safe else {
            throw Self.error(
                XMLErrorCode.internal,
                text:
                    "The XML was not read: Foundation's parser cannot report entities, notations and, beside a "
                    + "document type, processing instructions without data. XMLDocumentResponseSerializer can"
            )
        }
        return Self.makeParser(safe)
    }

    private static func makeParser(_ data: Data) -> XMLParser {
        let parser = WholeDocumentParser(data: data)
        parser.externalEntityResolvingPolicy = .never
        parser.shouldResolveExternalEntities = false
        return parser
    }

    /// A document that refers to nothing outside.
    ///
    /// - Throws: If it is not well-formed.
    func makeDocument(_ options: XMLNode.Options) throws -> XMLDocument {
        guard !options.contains(.documentValidate) else {
            let text =
                "The XML was not read: validating it needs a document type of the server's choice. Leave out the "
                + "option documentValidate"
            throw CocoaError(.featureUnsupported, userInfo: [NSLocalizedDescriptionKey: text])
        }
        try checkForm()
        var options = options
        options.subtract([.nodeLoadExternalEntitiesAlways, .nodeLoadExternalEntitiesSameOriginOnly, .documentXInclude])
        // Without it, options for the document's own entities load external ones.
        options.insert(.nodeLoadExternalEntitiesNever)
        let (body, safeOptions) = (data, options)
        return try WithinParser.run { try XMLDocument(data: body, options: safeOptions) }
    }

    /// Foundation's `XMLDocument` repairs text that is not well-formed, and has no guard against entities that
    /// multiply; its parser reports both.
    private func checkForm() throws {
        // Without a delegate the parser makes no calls, and is safe.
        let parser = Self.makeParser(data)
        guard !parser.parse() else { return }
        let code = (parser.parserError as NSError?)?.code ?? XMLErrorCode.internal
        let place = "line \(parser.lineNumber), column \(parser.columnNumber)"
        throw Self.error(code, text: "The XML is not well-formed at \(place) (libxml2 error \(code))")
    }

    private static func error(_ code: Int, text: String) -> NSError {
        NSError(domain: XMLParser.errorDomain, code: code, userInfo: [NSLocalizedDescriptionKey: text])
    }

    /// Foundation's parser accepts anything shorter than four bytes, and needs one more to read on.
    private static func padded(_ body: Data) -> Data {
        body.count > 4 ? body : body + Data(repeating: UInt8(ascii: " "), count: 5 - body.count)
    }
}

/// Foundation's parser, with a check that on Linux it lacks: it accepts a document that is cut off.
private final class WholeDocumentParser: XMLParser {
    override func parse() -> Bool {
        guard super.parse() else { return false }
        return (parserError as NSError?)?.code != XMLErrorCode.documentEnd
    }
}

/// The numbers that errors of libxml2 have on every platform; those of Foundation's `ErrorCode` are off by one on Linux.
private enum XMLErrorCode {
    static let `internal` = 1
    static let outOfMemory = 2
    static let documentEnd = 5
    static let invalidEncoding = 81
}
