import Foundation

/// Parameters of types of the program's, by way of JSON.
enum EncodableParameters {
    /// An object or an array of JSON.
    static func data(_ value: any Encodable, _ encoder: JSONEncoder) throws -> Data {
        let data = try encoder.encode(value)
        guard isCollection(data) else { throw RequestError.notJSON }
        return data
    }

    /// The same as dictionaries and arrays, for queries.
    static func tree(_ value: any Encodable, _ encoder: JSONEncoder) throws -> Any {
        try JSONSerialization.jsonObject(with: data(value, encoder))
    }

    /// The same if it is a value of a type of the program's, and the parameters as they are if not.
    static func unfolded(_ parameters: Any) throws -> Any {
        guard case .leaf(let value as any Encodable) = ParameterNode(parameters) else { return parameters }
        let data = try JSONEncoder().encode(value)
        return isCollection(data) ? try JSONSerialization.jsonObject(with: data) : parameters
    }

    private static func isCollection(_ json: Data) -> Bool {
        let first = json.first { $0 > UInt8(ascii: " ") }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }

    /// - Throws: An error that wraps an `EncodingError`.
    static func checked(_ value: Any) throws -> any Encodable {
        if let value = value as? any Encodable { return value }
        let type = "\(type(of: value))"
        let cause = EncodingError.Context(codingPath: [], debugDescription: "\(type) is not Encodable.")
        throw RequestError.make(
            .cannotDecodeContentData,
            "The `parameters` argument is of the type \(type), which is not Encodable.",
            advice: "Make it Encodable, or use JSONRequestSerializer for dictionaries of values of any type.",
            underlying: EncodingError.invalidValue(value, cause)
        )
    }
}
