import Foundation

/// Turns `Encodable` parameters into JSON.
enum EncodableParameters {
    /// An object or an array of JSON.
    static func data(_ value: any Encodable, encoder: JSONEncoder) throws -> Data {
        let data = try encoder.encode(value)
        guard isCollection(data) else { throw RequestError.notJSON }
        return data
    }

    /// The same as dictionaries and arrays, for queries.
    static func tree(_ value: any Encodable, encoder: JSONEncoder) throws -> Any {
        try JSONSerialization.jsonObject(with: data(value, encoder: encoder))
    }

    /// The same for a value of one of the program's types; all other parameters are returned as they are.
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
            reason: "The `parameters` argument is of the type \(type), which is not Encodable.",
            advice: "Make it Encodable, or use JSONRequestSerializer for dictionaries of values of any type.",
            underlying: EncodingError.invalidValue(value, cause)
        )
    }
}
