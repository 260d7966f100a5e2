import Foundation
import FoundationXML

/// Makes something while a parser of Foundation's is running: libxml2 then tells that parser what it would print on the
/// terminal, parts of the document included, and asks it before it loads anything.
final class WithinParser<Value>: NSObject, XMLParserDelegate {
    private let body: () throws -> Value
    private var result: Result<Value, any Error>?

    private init(_ body: @escaping () throws -> Value) {
        self.body = body
    }

    static func run(_ body: @escaping () throws -> Value) throws -> Value {
        let delegate = WithinParser(body)
        let parser = XMLParser(data: Data("<document/>".utf8))
        parser.externalEntityResolvingPolicy = .never
        parser.delegate = delegate
        _ = parser.parse()
        guard let result = delegate.result else { throw CocoaError(.fileReadUnknown) }
        return try result.get()
    }

    func parserDidStartDocument(_ parser: XMLParser) {
        result = Result(catching: body)
    }
}
