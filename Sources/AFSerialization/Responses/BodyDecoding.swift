import AFBase
package import Foundation

/// Makes values of one type of the bodies of responses.
///
/// A type may have its conformance on an actor, as all types of a module may whose default isolation is the main actor:
/// its values are decoded where the caller is.
package enum BodyDecoding<Value: Decodable> {
    /// The value of a body; nil for an empty one of a type that is not ``EmptyRepresentable``.
    package static func object(in body: Data, decode: (Data) throws -> Value) throws -> Any? {
        guard !body.isEmpty else { return (Value.self as? any EmptyRepresentable.Type)?.emptyValue }
        do {
            return try decode(body)
        } catch let failure {
            throw described(failure)
        }
    }

    package static func value(in body: Data, by decoder: any BodyDecoder) throws -> Value {
        try decoder.decode(Value.self, from: checked(body, for: decoder))
    }

    /// The body as the decoder can read it without running out of stack.
    private static func checked(_ body: Data, for decoder: any BodyDecoder) throws -> Data {
        if decoder is JSONDecoder { return try JSONText(body, deepest: JSONText.deepestDecodableLevel).data }
        if decoder is PropertyListDecoder { try PropertyListGuard.check(body) }
        return body
    }

    /// An error that keeps the one it describes: converted by Foundation, a Swift error loses its description.
    private static func described(_ failure: any Error) -> NSError {
        let converted = failure as NSError
        var userInfo = converted.userInfo
        userInfo[HTTPResponseSerializer.decodingErrorKey] = failure
        guard let failure = failure as? DecodingError else {
            return NSError(domain: converted.domain, code: converted.code, userInfo: userInfo)
        }
        userInfo[NSLocalizedDescriptionKey] = "Could not decode \(Value.self) from the body: \(failure.explanation)"
        return NSError(domain: NSCocoaErrorDomain, code: CocoaError.coderReadCorrupt.rawValue, userInfo: userInfo)
    }
}

extension DecodingError {
    /// What was wrong, and where.
    fileprivate var explanation: String {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            Self.place(context.codingPath) + context.debugDescription.asPeerText
        case .keyNotFound(let key, let context):
            Self.place(context.codingPath) + "no value for the key \"\(key.stringValue)\""
        @unknown default: String(describing: self)
        }
    }

    private static func place(_ path: [any CodingKey]) -> String {
        guard !path.isEmpty else { return "" }
        return "at \(path.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".").asPeerText): "
    }
}
