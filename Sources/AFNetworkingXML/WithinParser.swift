import Foundation
import FoundationXML

/// Runs code in a callback of a Foundation parser: libxml2 then reports errors to that parser instead of printing them,
/// parts of the document included, and asks it before it loads anything.
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
