package import Foundation

/// Values that archives hold as bytes of JSON. Numbers may be infinite, as a timeout without an end is.
package enum ArchivedJSON {
    package static func data(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan"
        )
        return try encoder.encode(value)
    }

    package static func value<Value: Decodable>(_ type: Value.Type, in data: Data) throws -> Value {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan"
        )
        return try decoder.decode(type, from: data)
    }
}
