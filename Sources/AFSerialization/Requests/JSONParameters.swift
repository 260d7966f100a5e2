import Foundation

/// Turns parameters into JSON.
enum JSONParameters {
    /// A dictionary or an array, or something `Encodable` that becomes one.
    static func data(_ parameters: Any, options: JSONSerialization.WritingOptions) throws -> Data {
        switch ParameterNode(parameters) {
        case .leaf(is any BinaryFloatingPoint): throw RequestError.notJSON
        case .leaf(let value as any Encodable): return try EncodableParameters.data(value, encoder: JSONEncoder())
        case .null, .set, .leaf: throw RequestError.notJSON
        case .dictionary, .array: break
        }
        let plain = PlainParameters(null: NSNull(), leaf: leaf)
        guard let object = plain.plain(parameters) else { throw RequestError.notJSON }
        return try JSONSerialization.data(withJSONObject: object, options: options)
    }

    private static func leaf(_ value: Any) -> Any? {
        if type(of: value) is AnyClass {
            guard let number = value as? NSNumber, number.doubleValue.isFinite else { return nil }
            return number
        }
        return switch value {
        case let truth as Bool: truth
        case let number as Double: number.isFinite ? number : nil
        case let number as Float: number.isFinite ? number : nil
        case let number as CGFloat: number.isFinite ? Double(number) : nil
        case let number as Decimal: number.isFinite ? number : nil
        case let number as any BinaryInteger: integer(number)
        default: nil
        }
    }

    private static func integer(_ number: some BinaryInteger) -> Any? {
        if let signed = Int64(exactly: number) { return signed }
        return UInt64(exactly: number)
    }
}
