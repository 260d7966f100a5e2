import Foundation

/// What stands in archives as bytes of JSON. Other than in JSON, numbers may be infinite: times without an end are.
enum ArchivedJSON {
    static func data(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan"
        )
        return try encoder.encode(value)
    }

    static func value<Value: Decodable>(_ type: Value.Type, in data: Data) throws -> Value {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan"
        )
        return try decoder.decode(type, from: data)
    }
}

// A policy that cannot be written or read must not become one that is less strict.
extension NSCoder {
    func writePolicy(_ policy: SecurityPolicy, forKey key: String) {
        // Of a subclass only the settings could be read again, and not what it overrides.
        let data = policy.mayHaveOverrides ? Data() : (try? ArchivedJSON.data(policy)) ?? Data()
        encode(data as NSData, forKey: key)
    }

    /// Nil if there is none.
    func readPolicy(forKey key: String) throws -> SecurityPolicy? {
        guard let data = decodeObject(of: NSData.self, forKey: key) as Data? else { return nil }
        return try ArchivedJSON.value(SecurityPolicy.self, in: data)
    }
}
