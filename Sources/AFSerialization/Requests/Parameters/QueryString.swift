import Foundation

/// One field of a query or a form.
struct ParameterPair {
    let field: String
    /// Nil for null, which is not the same as empty text.
    let value: Any?

    var escaped: String {
        let name = PercentEscaping.escaped(field)
        return value.map { "\(name)=\(PercentEscaping.escaped(ParameterText.of($0)))" } ?? name
    }
}

/// Makes fields of nested parameters, in order.
///
/// | value of `k` | fields |
/// |---|---|
/// | a dictionary | `k[key]` for each key, sorted; without `k[]` around it at the top |
/// | an array | `k[]` for each element |
/// | a set | `k` for each element, sorted |
/// | null | `k` without a value |
/// | anything else | `k` with its description |
///
/// What is no dictionary at the top has an empty `k`.
struct ParameterPairs {
    private(set) var pairs: [ParameterPair] = []
    /// How many values were left out for being nested too deep.
    private var cuts = 0
    private let mostCuts: Int

    /// - Parameter mostCuts: After so many values that are nested too deep, leaves out all others. An array that holds
    ///   another one twice, which does the same, and so on, is a tree too large to walk.
    init(_ parameters: Any, mostCuts: Int = 1) {
        self.mostCuts = mostCuts
        add(parameters, to: nil, depth: 0)
    }

    var isCut: Bool { cuts > 0 }

    /// Joined as in a query. Nil if something is nested too deep.
    var query: String? { isCut ? nil : cutQuery }

    var cutQuery: String { pairs.map(\.escaped).joined(separator: "&") }

    private mutating func add(_ value: Any, to field: String?, depth: Int) {
        guard cuts < mostCuts else { return }
        guard depth <= ParameterNode.deepest else { return cuts += 1 }
        switch ParameterNode(value) {
        case .null: pairs.append(ParameterPair(field: field ?? "", value: nil))
        case .leaf(let value): pairs.append(ParameterPair(field: field ?? "", value: value))
        case .dictionary(let members):
            for (key, value) in ParameterPairs.sorted(members, by: { $0.key }) {
                add(value.value, to: field.map { "\($0)[\(key)]" } ?? key, depth: depth + 1)
            }
        case .array(let elements):
            for element in elements { add(element, to: (field ?? "") + "[]", depth: depth + 1) }
        case .set(let elements):
            for (_, element) in ParameterPairs.sorted(elements, by: { $0 }) {
                add(element, to: field ?? "", depth: depth + 1)
            }
        }
    }

    /// The values in the order of their texts, each text made once.
    private static func sorted<Value>(_ values: [Value], by text: (Value) -> Any) -> [(text: String, value: Value)] {
        values.map { (ParameterText.of(text($0)), $0) }.sorted { ParameterText.isInOrder($0.text, other: $1.text) }
    }
}

/// Escapes text for the query of a URL or for a form.
enum PercentEscaping {
    static func escaped(_ string: String) -> String {
        var string = string
        return string.withUTF8 { text in
            let escapedCount = text.reduce(0) { $0 + (isKept($1) ? 0 : 1) }
            guard escapedCount > 0 else { return String(decoding: text, as: UTF8.self) }
            return String(unsafeUninitializedCapacity: text.count + 2 * escapedCount) { room in
                write(text, into: room)
            }
        }
    }

    private static func isKept(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"), UInt8(ascii: "/"), UInt8(ascii: "?"):
            true
        default: false
        }
    }

    /// Returns how many bytes were written.
    private static func write(_ text: UnsafeBufferPointer<UInt8>, into room: UnsafeMutableBufferPointer<UInt8>) -> Int {
        var end = 0
        for byte in text {
            if isKept(byte) {
                room[end] = byte
                end += 1
            } else {
                room[end] = UInt8(ascii: "%")
                room[end + 1] = digit(byte >> 4)
                room[end + 2] = digit(byte & 15)
                end += 3
            }
        }
        return end
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}

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
