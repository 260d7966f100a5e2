import AFNetworkingXML
import Foundation
import FoundationXML
import Testing

func makeResponse(_ status: Int = 200, type: String? = "application/xml") throws -> HTTPURLResponse {
    let url = try #require(URL(string: "http://example.com/thing"))
    let fields = type.map { ["Content-Type": $0] }
    let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
    return try #require(response)
}

/// Keeps what a parser reports.
final class ParserRecord: NSObject, XMLParserDelegate {
    var elements: [String] = []
    var text = ""

    func parser(
        _ parser: XMLParser,
        didStartElement elementName: String,
        namespaceURI: String?,
        qualifiedName qName: String?,
        attributes attributeDict: [String: String]
    ) {
        elements.append(elementName)
        text += attributeDict.values.joined()
    }

    func parser(_ parser: XMLParser, foundProcessingInstructionWithTarget target: String, data: String?) {
        text += "?\(target) \(data ?? "nil")?"
    }

    func parser(_ parser: XMLParser, foundComment comment: String) { text += "!\(comment)!" }
    func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }
    func parser(_ parser: XMLParser, foundCDATA CDATABlock: Data) {
        text += String(decoding: CDATABlock, as: UTF8.self)
    }
}

/// Serializes a body to a parser, and lets it run.
func parsed(_ body: Data) throws -> (succeeded: Bool, record: ParserRecord) {
    let record = ParserRecord()
    let (object, _) = XMLParserResponseSerializer().serialize(try makeResponse(), data: body)
    guard let parser = object as? XMLParser else { return (false, record) }
    parser.delegate = record
    parser.shouldProcessNamespaces = true
    parser.shouldReportNamespacePrefixes = true
    return (parser.parse(), record)
}

/// Serializes a body to a document.
func documented(_ body: Data, _ options: XMLNode.Options = []) throws -> (document: XMLDocument?, error: NSError?) {
    let serializer = XMLDocumentResponseSerializer(xmlDocumentOptions: options)
    let (object, error) = serializer.serialize(try makeResponse(), data: body)
    return (object as? XMLDocument, error as NSError?)
}

func archived<Object: NSObject & NSSecureCoding>(_ object: Object) throws -> Object? {
    let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    return try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data)
}
