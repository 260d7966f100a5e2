import Foundation

/// The text of values in queries and forms.
enum ParameterText {
    /// The description of a value. True is `1`, false is `0`, and numbers are as short as possible.
    static func of(_ value: Any) -> String {
        if type(of: value) is AnyClass { return text(ofObject: value as AnyObject) }
        if type(of: value) == AnyHashable.self, let boxed = value as? AnyHashable { return of(boxed.base) }
        return switch value {
        case let text as String: text
        case let truth as Bool: truth ? "1" : "0"
        case let number as any BinaryFloatingPoint: short("\(number)")
        case let url as URL: url.absoluteString
        default: String(describing: value)
        }
    }

    private static func text(ofObject object: AnyObject) -> String {
        switch object {
        case let number as NSNumber: text(of: number)
        case let url as NSURL: url.absoluteString
        case let object as NSObject: object.description
        default: String(describing: object)
        }
    }

    private static func text(of number: NSNumber) -> String {
        // Each of the two is one object: identity is the only way to tell them from the numbers 1 and 0.
        if number === NSNumber(value: true) { return "1" }
        if number === NSNumber(value: false) { return "0" }
        if number is NSDecimalNumber { return number.description }
        return switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "d"): short(number.doubleValue.description)
        case UInt8(ascii: "f"): short(number.floatValue.description)
        default: number.description
        }
    }

    private static func short(_ number: String) -> String {
        number.hasSuffix(".0") ? String(number.dropLast(2)) : number
    }

    /// Orders texts by their UTF-16 code units, as `NSString` does.
    static func isInOrder(_ one: String, other: String) -> Bool {
        one.utf16.lexicographicallyPrecedes(other.utf16)
    }
}
