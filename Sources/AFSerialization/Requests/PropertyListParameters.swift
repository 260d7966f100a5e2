import Foundation

/// Turns parameters into property lists.
enum PropertyListParameters {
    static func data(
        _ parameters: Any,
        format: PropertyListSerialization.PropertyListFormat,
        options: PropertyListSerialization.WriteOptions
    ) throws -> Data {
        // There is no null in property lists.
        let plain = PlainParameters(null: nil, leaf: leaf, allowsText: { format != .xml || isXML($0) })
        guard let object = plain.plain(parameters), format != .openStep else {
            throw RequestError.notPropertyList(format)
        }
        return try PropertyListSerialization.data(fromPropertyList: object, format: format, options: options)
    }

    /// XML 1.0 forbids some characters, even escaped: no parser reads a document that has them.
    private static func isXML(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            case 9, 10, 13, 0x20...0xFFFD, 0x10000...: true
            default: false
            }
        }
    }

    private static func leaf(_ value: Any) -> Any? {
        if type(of: value) is AnyClass { return leaf(ofObject: value as AnyObject) }
        return switch value {
        case let truth as Bool: truth
        case let number as Double: number.isFinite ? number : nil
        case let number as Float: number.isFinite ? number : nil
        case let number as CGFloat: number.isFinite ? Double(number) : nil
        case let number as any BinaryInteger: Int64(exactly: number)
        case let date as Date: date.timeIntervalSinceReferenceDate.isFinite ? date : nil
        case let data as Data: data
        default: nil
        }
    }

    private static func leaf(ofObject object: AnyObject) -> Any? {
        switch object {
        case is NSDecimalNumber: nil
        case let number as NSNumber: number.doubleValue.isFinite ? number : nil
        case let date as NSDate: date.timeIntervalSinceReferenceDate.isFinite ? date : nil
        case let data as NSData: data
        default: nil
        }
    }
}
